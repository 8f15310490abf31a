/** Captures and faults that are switched on for a limited time. */

import { randomInt } from 'node:crypto';
import type { CommandMap, CommandResults } from '../../contract/commands.ts';
import { controlError } from '../../contract/control-error.ts';
import type { ControlProblem } from '../../contract/control-problem.ts';
import { GatewayError } from '../../contract/errors.ts';
import { findLocks } from '../../contract/lock.ts';
import type { FaultScope, FaultSwitch } from '../../faults/fault-switch.ts';
import type { FaultRule } from '../../faults/parse-rule.ts';
import type { CaptureScope, CaptureSwitch } from '../../store/rules/capture-switch.ts';
import { findById } from '../entries/change-list.ts';
import type { LiveConfig } from '../live/live-config.ts';
import type { TeamPresets } from './team-presets.ts';

interface CapturePorts {
  live: Pick<LiveConfig, 'used'>;
  team: Pick<TeamPresets, 'locks'>;
  captureSwitch: CaptureSwitch;
}

interface Named {
  group?: string | undefined;
  key?: string | undefined;
}

export function captureScopeOf({ group, key }: Named): CaptureScope {
  if (group !== undefined) return { kind: 'group', id: group };
  return key === undefined ? null : { kind: 'key', id: key };
}

/** Throws GatewayError `not_found`, or `locked` if a team preset locks the group's capture setting. */
export function startCapture(
  { live, team, captureSwitch }: CapturePorts,
  { minutes, requests, ...subject }: Named & { minutes: number; requests?: number | undefined },
): CommandResults['capture.start'] {
  const { config } = live.used;
  if (subject.group !== undefined) findById(config.groups, subject.group, 'group');
  const group = subject.key === undefined ? subject.group : findById(config.keys, subject.key, 'key').group;
  if (group !== undefined) {
    const lock = findLocks(team.locks(config)).changing('groups', group, 'capture');
    if (lock) {
      const { by, contact } = lock;
      throw controlError(
        'locked',
        { code: 'locked-against-changing', part: 'group', name: group, by, contact },
        lock.path,
      );
    }
  }
  captureSwitch.start(captureScopeOf(subject), minutes * 60_000, requests);
  return { timed: captureSwitch.timed };
}

interface FaultPorts {
  live: Pick<LiveConfig, 'used'>;
  faults: FaultSwitch;
}

/** Null means everything. */
export function faultScopeOf({ group, key }: Named): FaultScope | null {
  if (key !== undefined) return { kind: 'key', id: key };
  return group === undefined ? null : { kind: 'group', id: group };
}

const maxSeeds = 2 ** 31;

/** Throws GatewayError `not_found`, or `invalid_command` for a rule that cannot be parsed. */
export async function startFaults(
  { live, faults }: FaultPorts,
  { minutes, profile, rules, seed = randomInt(maxSeeds), ...subject }: CommandMap['faults.start'],
): Promise<CommandResults['faults.start']> {
  const { config } = live.used;
  const scope = faultScopeOf(subject);
  if (!scope) throw new GatewayError('invalid_command', 'Name a key or a group.', { param: 'key' });
  if (scope.kind === 'group') findById(config.groups, scope.id, 'group');
  else findById(config.keys, scope.id, 'key');
  const [{ faultProfiles }, { FaultSequence }] = await Promise.all([
    import('../../faults/fault-profiles.ts'),
    import('../../faults/fault-sequence.ts'),
  ]);
  const texts = rules ?? (profile === undefined ? [] : faultProfiles[profile].rules);
  const sequence = new FaultSequence(await parseRules(texts), seed);
  faults.start({ ...scope, profile: profile ?? null, rules: texts, seed }, sequence, minutes * 60_000);
  return { faults: faults.timed };
}

async function parseRules(texts: readonly string[]): Promise<FaultRule[]> {
  const [{ FaultTextError, parseRule }, { findUnmetRule }] = await Promise.all([
    import('../../faults/parse-rule.ts'),
    import('../../faults/parse-rule.ts'),
  ]);
  const rules = texts.map((text, index) => {
    try {
      return parseRule(text);
    } catch (error) {
      if (!(error instanceof FaultTextError)) throw error;
      const { field, message: reason } = error;
      const [fault = ''] = text.split(';');
      throw refused(index, { code: 'fault-rule-wrong', rule: index + 1, fault, field, reason });
    }
  });
  const unmet = findUnmetRule(rules);
  if (unmet) {
    const [fault, instead] = [rules[unmet.index], rules[unmet.because]].map((rule) => rule?.fault.name ?? '');
    const [rule, other] = [unmet.index + 1, unmet.because + 1];
    throw refused(unmet.index, { code: 'fault-rule-unmet', rule, fault: fault ?? '', other, instead: instead ?? '' });
  }
  return rules;
}

const refused = (index: number, problem: ControlProblem) => controlError('invalid_command', problem, `rules.${index}`);
