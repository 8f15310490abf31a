import { GatewayError } from '../../contract/errors.ts';

/** The client disconnected before its request was complete. */
export class ClientGone extends Error {
  override readonly name = 'ClientGone';
}

export function bodyTooLarge(maxBytes: number, bytes: number): GatewayError {
  return new GatewayError('too_large', `Maximum content size limit (${maxBytes}) exceeded (${bytes} bytes read).`);
}
