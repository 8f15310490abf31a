/** How the server tells a running request that the time for it is over, since Sluice is shutting down. */
import type { ServerResponse } from 'node:http';
import { GatewayError } from '../contract/errors.ts';

const cutOffEvent = 'sluice-cut-off';

export function onCutOff(response: ServerResponse, listener: () => void): void {
  response.once(cutOffEvent, listener);
}

export function cutOff(response: ServerResponse): void {
  response.emit(cutOffEvent);
}

export function shuttingDown(): GatewayError {
  return new GatewayError('shutting_down', 'Sluice is shutting down. Try again after it has restarted.');
}
