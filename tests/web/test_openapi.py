"""The OpenAPI document says what the server does: requests made from it find nothing."""
