/**
 * Starts a gateway, sends it a request, and prints which packages for metrics and telemetry were loaded before and
 * after metrics were switched on. Runs in its own process.
 */
import { registerHooks } from 'node:module';

const loaded = new Set<string>();
registerHooks({
  load(url, context, next) {
    const found = /node_modules\/(prom-client|@opentelemetry\/[\w-]+)/.exec(url)?.[1];
    if (found) loaded.add(found);
    if (/\/server\/observability\/(prometheus|telemetry|webhooks)\.ts/.test(url)) loaded.add(url.replace(/.*\//, ''));
    return next(url, context);
  },
});

const { startControlGateway } = await import('../server/control/control-gateway.ts');
const { eventually } = await import('./eventually.ts');
const sluice = await startControlGateway();
await (await sluice.fetch('/models')).text();
const before = [...loaded];
await sluice.gateway.execute({ type: 'settings.update', changes: { metrics: 'on' } });
await eventually(async () => (loaded.has('prom-client') ? true : null));
console.log(JSON.stringify({ before, after: [...loaded] }));
await sluice.stop();
