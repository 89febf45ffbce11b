"""What people read: numbers as text, charts as SVG, the rows worth a look, one page that holds it all."""
