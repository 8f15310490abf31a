/** An identity provider that pushes people and groups by SCIM. */

export interface ScimAnswer {
  status: number;
  type: string | null;
  // biome-ignore lint/suspicious/noExplicitAny: of any shape, compared by the tests.
  body: any;
}

export type ScimClient = (method: string, path: string, body?: object) => Promise<ScimAnswer>;

/** The body of a PATCH. */
export const patch = (...Operations: object[]) => ({
  schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
  Operations,
});

/** `origin` and `token` are asked for each request. */
export function scimClientOf(origin: () => string, token: () => string): ScimClient {
  return async (method, path, body) => {
    const response = await fetch(`${origin()}/scim/v2${path}`, {
      method,
      headers: { authorization: `Bearer ${token()}`, ...(body && { 'content-type': 'application/scim+json' }) },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const type = response.headers.get('content-type');
    return { status: response.status, type, body: text === '' ? null : JSON.parse(text) };
  };
}
