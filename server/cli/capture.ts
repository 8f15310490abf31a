/** `sluice capture`: whether headers and bodies of a group's requests are kept. */
import type { Command } from 'commander';
import { configOf, findGroup } from './find-group.ts';
import type { Verbs } from './verb.ts';

interface CaptureOptions {
  group: string;
}

export function addCaptureVerbs(program: Command, { on }: Verbs): void {
  const capture = program.command('capture').description('keep headers and bodies of requests, without secrets');
  for (const [verb, isOn] of [
    ['on', true],
    ['off', false],
  ] as const) {
    const command = capture
      .command(verb)
      .description(isOn ? 'keep headers and bodies for some days' : 'do not keep headers and bodies')
      .option('--group <id>', 'the group', 'default');
    on<CaptureOptions>(command, async ({ control, output }, _, { group: id }) => {
      const group = configOf(await findGroup(control, id));
      const result = await control.execute({ type: 'group.put', group: { ...group, capture: isOn } });
      output.show(result, `Capture is ${verb} for group "${id}".`);
    });
  }
}
