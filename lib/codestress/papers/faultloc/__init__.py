"""Fault Localizability: can a model name the faulty line, and name it again after
neutral mutations?"""
