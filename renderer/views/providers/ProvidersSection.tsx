import { CopyLine } from '../../components/CopyLine.tsx';
import { EmptyNote } from '../../components/EmptyNote.tsx';
import classes from '../../components/List.module.css';
import { ListSkeleton } from '../../components/ListSkeleton.tsx';
import { Section } from '../../components/Section.tsx';
import { useLocalization } from '../../messages/use-messages.ts';
import { useControlState } from '../../state/use-control.ts';
import { ProviderRow } from './ProviderRow.tsx';
import { providerRows } from './provider-row.ts';

const addCommand = 'npm run -s sluice -- provider add --help';

/** Every provider with its switch. */
export function ProvidersSection() {
  const { messages, formats } = useLocalization();
  const names = messages.providers;
  const providers = useControlState((state) => state.views?.providers ?? null);
  const status = useControlState((state) => state.views?.status ?? null);
  return (
    <Section title={names.title} count={providers ? formats.number(providers.length) : undefined}>
      {!providers && <ListSkeleton rows={1} rowHeight={60} />}
      {providers && status && (
        <ul className={classes.list}>
          {providerRows({ providers, status }).map((row) => (
            <ProviderRow key={row.id} row={row} />
          ))}
        </ul>
      )}
      {providers?.length === 0 && (
        <EmptyNote title={names.emptyTitle} next={names.emptyNext}>
          <CopyLine value={addCommand} what={messages.command} />
        </EmptyNote>
      )}
    </Section>
  );
}
