import { GatewayError } from '../../contract/errors.ts';

export function bodyTooLarge(maxBytes: number, bytes: number): GatewayError {
  return new GatewayError('too_large', `Maximum content size limit (${maxBytes}) exceeded (${bytes} bytes read).`);
}
