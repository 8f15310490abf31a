import type { CommandResults } from '../../contract/commands.ts';
import { controlError } from '../../contract/control-error.ts';
import { findLocks } from '../../contract/lock.ts';
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
