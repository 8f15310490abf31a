/** Applies team presets to the configuration at start, and whenever the policy file appears, changes or disappears. */
import type { Logger } from 'pino';
import type { ConfigStore } from '../config/config-store.ts';
import { noManagedPresets } from '../config/managed-preset.ts';
import { openTeamMemory } from '../config/team-memory.ts';
import { every } from '../ground/timers.ts';
import type { TeamPorts, TeamPresets } from './changes/team-presets.ts';
import type { ControlPlane } from './control-plane.ts';

/** How often the policy file is checked. */
const checkEveryMs = 60_000;

interface FollowPorts {
  team: TeamPresets;
  config: Pick<ConfigStore, 'readOnly'>;
  control: Pick<ControlPlane, 'followTeam'>;
  /** Receives messages for the user, one line each. */
  notice: ((line: string) => void) | undefined;
  log: Logger;
}

/**
 * Resolves once the presets are applied, or the reason why they are not was reported. Returns the function that stops
 * checking.
 */
export async function followTeamPresets(ports: FollowPorts): Promise<() => void> {
  const { team } = ports;
  await follow(ports);
  const timer = every(() => {
    if (team.managed.refresh()) void follow(ports);
  }, checkEveryMs).unref();
  return () => clearInterval(timer);
}

/** For a program without team presets. */
export function withoutTeam(): TeamPorts {
  return { managed: noManagedPresets, memory: openTeamMemory(null, () => {}) };
}

/** A preset that does not fit is reported, but does not prevent the start. */
async function follow({ team, config, control, notice, log }: FollowPorts): Promise<void> {
  const { current } = team.managed;
  const tell = (line: string) => {
    log.warn(line);
    notice?.(line);
  };
  if (current && config.readOnly) {
    tell(
      `The team preset ${current.path} is not applied: the configuration comes from a file that Sluice does not write.`,
    );
  }
  try {
    await control.followTeam();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    tell(`${current?.path ?? 'The imported team preset'} is not applied: ${reason}`);
  }
}
