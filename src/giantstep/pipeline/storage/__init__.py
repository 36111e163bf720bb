"""How results are stored: whole netCDF files that name and explain every variable.

Start with `netcdf`.
"""
