"""Growing a site's pattern tree from its URLs alone (T_syn), before behaviour of users cuts it."""
