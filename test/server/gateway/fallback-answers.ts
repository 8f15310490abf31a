/** What the upstreams of the fallback tests answer, and what they are asked. */
export const plain = {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: '{"model":"gpt-x","messages":[]}',
};

export const errorOf = (code: string | null, more: object = {}) => ({
  error: { message: `because of ${code}`, type: 'some_error', param: null, code, ...more },
});
