/** An error in OpenAI's shape, thrown by the demo's routes and sent by `demo-server.ts`. */

interface Refusal {
  status: number;
  message: string;
  code?: string | null;
  param?: string | null;
  type?: string;
  headers?: Record<string, string>;
}

export class DemoError extends Error {
  readonly status: number;
  readonly headers: Record<string, string>;
  /** Sent as JSON. */
  readonly body: { error: { message: string; type: string; param: string | null; code: string | null } };

  constructor(refusal: Refusal) {
    super(refusal.message);
    this.status = refusal.status;
    this.headers = refusal.headers ?? {};
    this.body = {
      error: {
        message: refusal.message,
        type: refusal.type ?? 'invalid_request_error',
        param: refusal.param ?? null,
        code: refusal.code ?? null,
      },
    };
  }
}

export function missingParameter(param: string): DemoError {
  const message = `Missing required parameter: '${param}'.`;
  return new DemoError({ status: 400, code: 'missing_required_parameter', param, message });
}

export function invalidType(param: string, expected: string): DemoError {
  const message = `Invalid type for '${param}': expected ${expected}.`;
  return new DemoError({ status: 400, code: 'invalid_type', param, message });
}

export function invalidValue(param: string, explanation: string): DemoError {
  const message = `Invalid value for '${param}': ${explanation}.`;
  return new DemoError({ status: 400, code: 'invalid_value', param, message });
}

export function notFound(message: string, param: string | null = null): DemoError {
  return new DemoError({ status: 404, message, param });
}
