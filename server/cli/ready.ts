/** The output of `serve` once it is ready: JSON for scripts, or text. */
import type { Config } from '../contract/config.ts';
import { wantsDemo } from '../control/live/demo-provider.ts';
import { packageName } from '../ground/version.ts';

export interface Ready {
  baseUrl: string;
  windowUrl: string;
  /** Only set on the first run, which creates it. */
  key?: string;
  pid: number;
}

/** The single line that `serve --json` prints. */
export function readyLine({ baseUrl, windowUrl, key, pid }: Ready): string {
  return `${JSON.stringify({ event: 'ready', baseUrl, windowUrl, key, pid })}\n`;
}

/** The command to show to the user: through npm where it was started by npm, otherwise by name. */
export function commandName(env: Readonly<Record<string, string | undefined>>): string {
  const { npm_lifecycle_event: script, npm_package_name: project } = env;
  if (script === undefined) return 'sluice';
  const isCheckout = script !== 'npx' && project === packageName;
  return isCheckout ? 'npm run -s sluice --' : `npx ${packageName}`;
}

export function describeReady(ready: Ready, config: Config, command: string): string {
  const isDemo = wantsDemo(config);
  const lines = [
    'Sluice is ready.',
    '',
    `  Base URL  ${ready.baseUrl}`,
    ...(ready.key ? [`  Key       ${ready.key}`] : []),
    `  Window    ${ready.windowUrl}`,
    `            (works once, within ten minutes; "${command} window" prints a new one)`,
    '',
    ...(isDemo ? [`The built-in demo invents its answers. To add a provider: ${command} provider add --help`] : []),
    `Try it${keyHint(ready, config, command)}:`,
    '',
    `  ${curlLine(ready.baseUrl, ready.key ?? keyVariable(config), isDemo)}`,
    '',
  ];
  return `${lines.join('\n')}\n`;
}

function keyHint({ key }: Ready, config: Config, command: string): string {
  const variable = keyVariable(config);
  if (key) return '';
  return ` with a key in ${variable} ("${command} key create" creates one)`;
}

/** Uses the shell's syntax. In a declarative configuration, the key's secret may be in another variable. */
function keyVariable({ keys }: Config): string {
  const reference = keys.find((key) => key.enabled && /^env:\w+$/.test(key.secret ?? ''))?.secret ?? 'env:SLUICE_KEY';
  const name = reference.slice('env:'.length);
  return process.platform === 'win32' ? `%${name}%` : `$${name}`;
}

/** A command that works without changes: a chat with the demo, otherwise the list of models. */
function curlLine(baseUrl: string, key: string, isDemo: boolean): string {
  const authorization = `-H "Authorization: Bearer ${key}"`;
  if (!isDemo) return `curl ${baseUrl}/models ${authorization}`;
  const body = '{"model":"demo-chat","messages":[{"role":"user","content":"Hello"}]}';
  const quotedBody = process.platform === 'win32' ? `"${body.replaceAll('"', '\\"')}"` : `'${body}'`;
  return `curl ${baseUrl}/chat/completions ${authorization} -H "Content-Type: application/json" -d ${quotedBody}`;
}
