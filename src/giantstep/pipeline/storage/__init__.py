"""How results are stored: netCDF files, whole or missing, that explain every variable.

Start with `netcdf`.
"""
