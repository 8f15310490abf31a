/** `sluice capture`: switches the capture of headers and bodies for a group, for a key, or for some minutes. */
import { type Command, InvalidArgumentError } from 'commander';
import type { Control } from './control.ts';
import { configOf, findGroup } from './group.ts';
import type { Examples } from './help.ts';
import { CliError, exitCodes } from './programs/exit-codes.ts';
import { localTime } from './shown.ts';
import type { Verbs } from './verb.ts';

interface Scope {
  group?: string;
  key?: string;
}

interface OnOptions extends Scope {
  for?: number;
  requests?: number;
}

export const captureExamples: Examples = {
  'capture on': ['sluice capture on --requests 1', 'sluice capture on --for 10m', 'sluice capture on --key my-editor'],
  'capture off': ['sluice capture off --key my-editor', 'sluice capture off'],
};

export function addCaptureVerbs(program: Command, { on }: Verbs): void {
  const capture = program.command('capture').description('keep headers and bodies of requests, without secrets');
  const start = withScope(capture.command('on').description('start capturing'));
  start.option('--for <minutes>', 'only for this time, up to an hour: 10m', parseMinutes);
  start.option('--requests <n>', 'only this many requests, within ten minutes or the time of --for', parseCount);
  on<OnOptions>(start, async ({ control, output }, _, options) => {
    const scope = scopeOf(options);
    const { requests } = options;
    const minutes = options.for ?? (requests === undefined ? undefined : defaultMinutes);
    const name = nameOf(scope);
    if (minutes !== undefined) {
      if (control.origin === null) throw new CliError('Sluice is not running, so there is nothing to capture.');
      const result = await control.execute({ type: 'capture.start', minutes, ...(requests && { requests }), ...scope });
      const end = localTime(Date.now() + minutes * 60_000).slice(11, 16);
      output.show(result, `Capture is on for ${requests ? `the next ${requests} of ` : ''}${name} until ${end}.`);
      return;
    }
    if (!scope.group && !scope.key) {
      throw new CliError('Name a --group or a --key, or a time with --for.', exitCodes.usage);
    }
    output.show(await setCapture(control, scope, true), `Capture is on for ${name}.`);
  });

  const stop = withScope(
    capture.command('off').description('stop capturing; what was captured stays until it expires'),
  );
  on<Scope>(stop, async ({ control, output }, _, options) => {
    const scope = scopeOf(options);
    const ended = await control.execute({ type: 'capture.stop', ...scope });
    const stored = scope.group || scope.key ? await setCapture(control, scope, false) : {};
    if (scope.group || scope.key) {
      output.show({ ...ended, ...stored }, `Capture is off for ${nameOf(scope)}.`);
      return;
    }
    const staying = await captured(control);
    const rest = staying.length === 0 ? '' : ` It stays on for ${staying.map(nameOf).join(', ')}.`;
    output.show({ ...ended, staying }, `Capture of all requests is off.${rest}`);
  });
}

/** The groups and keys for which capture is on permanently. */
async function captured(control: Control): Promise<Scope[]> {
  const [groups, keys] = await Promise.all([control.query({ type: 'groups' }), control.query({ type: 'keys' })]);
  return [
    ...groups.filter(({ capture }) => capture).map(({ id }) => ({ group: id })),
    ...keys.filter(({ capture }) => capture).map(({ id }) => ({ key: id })),
  ];
}

function withScope(command: Command): Command {
  return command.option('--group <id>', 'requests of this group').option('--key <id>', 'requests of this key');
}

async function setCapture(control: Control, { group: id, key }: Scope, isOn: boolean) {
  if (key !== undefined) return control.execute({ type: 'key.update', id: key, changes: { capture: isOn } });
  const group = configOf(await findGroup(control, id ?? ''));
  return control.execute({ type: 'group.put', group: { ...group, capture: isOn } });
}

/** Only the scope, without the options that all commands have. */
function scopeOf({ group, key }: Scope): Scope {
  return { ...(group !== undefined && { group }), ...(key !== undefined && { key }) };
}

function nameOf({ group, key }: Scope): string {
  if (key !== undefined) return `key "${key}"`;
  return group === undefined ? 'all requests' : `group "${group}"`;
}

const defaultMinutes = 10;

function parseCount(text: string): number {
  const count = Number(text);
  if (Number.isInteger(count) && count >= 1 && count <= 1_000) return count;
  throw new InvalidArgumentError('Use a number from 1 to 1000.');
}

function parseMinutes(text: string): number {
  const [, count, unit] = /^(\d+)(m|h)?$/.exec(text) ?? [];
  const minutes = Number(count) * (unit === 'h' ? 60 : 1);
  if (minutes >= 1 && minutes <= 60) return minutes;
  throw new InvalidArgumentError('Use a time from 1m to 60m.');
}
