import type { RequestView } from '../../../../server/contract/request-views.ts';
import type { ControlStore } from '../../../state/control/control-store.ts';

const reportedErrors = 50;
/** Fields that describe a failure but do not identify anyone. */
const errorFields = [
  ...['id', 'startedAt', 'route', 'capability', 'modelAsked', 'modelServed', 'provider', 'stream', 'client'],
  ...['outcome', 'status', 'errorCode', 'firstByteMs', 'totalMs', 'attempts'],
] as (keyof RequestView)[];

/**
 * Collects what someone who helps needs to know: versions, state, configuration and the latest errors. Views contain no
 * secrets, so neither does the report.
 */
export async function collectDiagnostics({ query }: ControlStore): Promise<object> {
  const [status, host, { revision, config }, { requests }] = await Promise.all([
    query({ type: 'status' }),
    query({ type: 'host' }),
    query({ type: 'config' }),
    query({ type: 'requests', filter: { outcome: 'failed' }, limit: reportedErrors }),
  ]);
  return {
    madeAt: new Date().toISOString(),
    browser: navigator.userAgent,
    host,
    status,
    config: { revision, ...config },
    lastErrors: requests.map((request) => Object.fromEntries(errorFields.map((name) => [name, request[name]]))),
  };
}
