"""Reading natural language, English and Chinese: words, sentences, dates, numbers, and the ranking of texts."""
