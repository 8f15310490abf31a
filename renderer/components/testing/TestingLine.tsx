import { Button } from '@mantine/core';
import { IconTestPipe } from '@tabler/icons-react';
import type { GroupView, KeyView } from '../../../server/contract/access-views.ts';
import type { TimedFaultsView } from '../../../server/contract/faults.ts';
import { useLocalization, useMessages } from '../../messages/use-messages.ts';
import { useControlState } from '../../state/control/use-control.ts';
import { useOne } from '../../state/control/use-found.ts';
import { overlay, type TestingSubject } from '../../state/window/overlay.ts';
import classes from './Testing.module.css';

const none: readonly TimedFaultsView[] = [];

export interface TestedView extends TestingSubject {
  view: KeyView | GroupView;
}

/** Says in a few words each what the drawer “Testing” has switched on for a key or group; empty if nothing. */
export function useDescribeTests(): (tested: TestedView) => string[] {
  const { messages, formats } = useLocalization();
  const { testing: names, cassettes, faults: faultNames } = messages;
  const faults = useControlState((state) => state.views?.status.faults ?? none);
  return ({ kind, id, view }) => {
    const running = faults.find((each) => each.kind === kind && each.id === id);
    const cassette = view.cassette === 'off' ? null : view.cassette;
    const asks = 'faults' in view && view.faults;
    const cache = 'cache' in view ? view.cache : null;
    return [
      ...(running ? [names.faultsUntil(running.profile ?? faultNames.ownRules, formats.clock(running.untilMs))] : []),
      ...(asks ? [names.faultsAsked] : []),
      ...(cassette ? [`${cassettes.modes[cassette.mode]}: ${cassette.folder}`] : []),
      ...(cache ? [names.cache(formats.bytes(cache.maxBytes))] : []),
    ];
  };
}

/** In the form of a key or group: opens the drawer “Testing”, and says in a line what is on. */
export function TestingLine({ kind, id }: TestingSubject) {
  const { testing: names } = useMessages();
  const { view } = useOne(kind, id);
  const describe = useDescribeTests();
  const on = view ? describe({ kind, id, view }) : [];
  return (
    <div className={classes.line}>
      <Button
        size="xs"
        variant="default"
        leftSection={<IconTestPipe size={14} aria-hidden />}
        onClick={() => overlay.openTesting({ kind, id })}
      >
        {names.open}
      </Button>
      {on.length > 0 && (
        <p className={classes.text} role="status">
          {names.isOn(on.join(' · '))}
        </p>
      )}
    </div>
  );
}
