"""Programs, words and texts, with what is known of them."""
