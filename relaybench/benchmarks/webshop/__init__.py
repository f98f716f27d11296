"""WebShop (Yao et al. 2022): find and buy the product that an instruction describes, in a shop of real products."""
