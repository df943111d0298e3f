"""The local server: an application of routes behind checks of who asks for what, and the page it serves."""
