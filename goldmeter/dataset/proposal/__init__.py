"""What init proposes for section `dataset`: columns and files get their roles by names and values, with the reasons."""
