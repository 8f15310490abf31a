/** `GET /metrics` for Prometheus, while the setting `metrics` is on. */
import type { RequestHandler } from 'express';
import { bearerSecret } from '../apis/core/requests/client-credentials.ts';
import { isSameSecret } from '../control/admin-token.ts';
import type { WindowAccess } from '../control/window-access.ts';
import type { Observability } from '../observability/observability.ts';
import { checkControlAccess } from './control-guard.ts';

interface MetricsRoutePorts {
  access: WindowAccess;
  observability: Pick<Observability, 'metrics' | 'metricsToken'>;
}

/** Requires access to the control plane, or the token that only reads metrics. */
export function sendMetrics({ access, observability }: MetricsRoutePorts): RequestHandler {
  return async (request, response, next) => {
    const { metrics, metricsToken } = observability;
    if (metrics === null) return next();
    const token = bearerSecret(request.headers.authorization ?? '');
    const mayRead = metricsToken !== null && token !== null && isSameSecret(token, metricsToken);
    if (!mayRead) checkControlAccess(request, access);
    const text = await metrics.text();
    response.set({ 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' });
    response.type(metrics.contentType).send(text);
  };
}
