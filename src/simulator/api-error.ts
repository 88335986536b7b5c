/** An error as the Messages API reports it, over HTTP or as an event in a stream. */

export class ApiError extends Error {
  readonly status: number;
  readonly type: string;
  readonly headers: Readonly<Record<string, string>>;
  constructor(
    status: number,
    type: string,
    message: string,
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(message);
    this.status = status;
    this.type = type;
    this.headers = headers;
  }

  body(requestId: string): string {
    const error = { type: this.type, message: this.message };
    return JSON.stringify({ type: 'error', error, request_id: requestId });
  }
}

export const invalidRequest = (message: string): ApiError =>
  new ApiError(400, 'invalid_request_error', message);

const TYPES: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  500: 'api_error',
  504: 'timeout_error',
  529: 'overloaded_error',
};

/** Returns the error type that the API documents for an HTTP status. */
export const errorTypeOf = (status: number): string =>
  TYPES[status] ?? (status >= 500 ? 'api_error' : 'invalid_request_error');
