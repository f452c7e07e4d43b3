"""The formats that access logs come in: detecting one, and finding its fields."""
