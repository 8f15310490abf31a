/** Everything about Sluice itself: how the window looks, where the engine listens, what it keeps. Providers, keys and groups have screens of their own. */
import { ListSkeleton } from '../../components/ListSkeleton.tsx';
import { Screen } from '../../components/Screen.tsx';
import { Staggered } from '../../components/Staggered.tsx';
import { useMessages } from '../../messages/use-messages.ts';
import { useControlState } from '../../state/use-control.ts';
import { AboutPart } from './AboutPart.tsx';
import { AddressNotes } from './AddressNotes.tsx';
import { DesktopPart } from './DesktopPart.tsx';
import { NetworkState } from './NetworkState.tsx';
import { SessionsPart } from './SessionsPart.tsx';
import classes from './Settings.module.css';
import { SettingsPart } from './SettingsPart.tsx';
import { TeamPart } from './TeamPart.tsx';
import { TransferPart } from './TransferPart.tsx';
import { WindowPart } from './WindowPart.tsx';

export function Settings() {
  const messages = useMessages();
  const status = useControlState((state) => state.views?.status ?? null);
  return (
    <Screen name="settings">
      {status?.readOnly && <p className={classes.note}>{messages.readOnly}</p>}
      {status ? (
        <Staggered first={3}>
          <WindowPart />
          <DesktopPart />
          <SettingsPart part="address">{(form) => <AddressNotes form={form} />}</SettingsPart>
          <SettingsPart part="network">{() => <NetworkState />}</SettingsPart>
          <SettingsPart part="access" />
          <SessionsPart />
          <SettingsPart part="serving" />
          <SettingsPart part="records" />
          <SettingsPart part="observability" />
          <TeamPart />
          <TransferPart />
          <AboutPart />
        </Staggered>
      ) : (
        <ListSkeleton rows={4} rowHeight={120} />
      )}
    </Screen>
  );
}
