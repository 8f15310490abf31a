/** How the server tells a running request that the time for it is over: Sluice is shutting down, or its key was revoked. */
import type { ServerResponse } from 'node:http';
import { GatewayError } from '../contract/errors.ts';

const cutOffEvent = 'sluice-cut-off';

/** Why a request is over; null for requests that it does not concern. `keyId`: null without a valid key. */
export type CutOff = (keyId: string | null) => GatewayError | null;

export function onCutOff(response: ServerResponse, listener: (cutOff: CutOff) => void): void {
  response.on(cutOffEvent, listener);
}

export function cutOff(response: ServerResponse, reason: CutOff): void {
  response.emit(cutOffEvent, reason);
}

export function shuttingDown(): GatewayError {
  return new GatewayError('shutting_down', 'Sluice is shutting down. Try again after it has restarted.');
}

export function keyRevoked(keyId: string): GatewayError {
  return new GatewayError('invalid_key', `Key "${keyId}" was revoked or disabled while this request ran.`);
}
