import { Button } from '@mantine/core';
import { isLoopback } from '../../../../server/contract/address.ts';
import { CommandProblem } from '../../../components/feedback/CommandProblem.tsx';
import list from '../../../components/lists/List.module.css';
import { LockMark } from '../../../components/locks/Lockable.tsx';
import { useLocalization } from '../../../messages/use-messages.ts';
import { useCommand } from '../../../state/control/use-command.ts';
import { useControlState } from '../../../state/control/use-control.ts';
import { useProviderName } from '../../../state/providers/providers.ts';
import { useCanChange, useLocks } from '../../../state/rights/use-rights.ts';
import classes from './Prices.module.css';
import { describeAmounts, fieldNames, type PriceRowView } from './prices.ts';

interface PriceRowProps {
  row: PriceRowView;
  onEdit(): void;
  onReset(): void;
}

/** A model, the source of its price, and the amounts. */
export function PriceRow({ row, onEdit, onReset }: PriceRowProps) {
  const localization = useLocalization();
  const { messages, formats } = localization;
  const { prices: names } = messages;
  const { provider, model, price, builtIn, unpricedRequests } = row;
  const locks = useLocks();
  const entry = price?.isOwn ? price.entry : `${provider}/${model}`;
  const lock =
    fieldNames.map((field) => locks.setting(`prices.${entry}.${field}`)).find((each) => each !== null) ?? null;
  const canChange = useCanChange() && lock === null;
  const providerName = useProviderName();
  const source = price === null ? 'none' : price.isOwn ? 'own' : price.isLocal ? 'local' : 'builtIn';
  const actionText = price?.isOwn ? names.edit : price ? names.setOwn : names.set;
  const subject = provider === null ? model : names.modelAt(model, providerName(provider));
  return (
    <li className={classes.row}>
      <div className={classes.text}>
        <div className={list.head}>
          <span className={classes.model}>{model}</span>
          {provider !== null && <span className={list.detail}>{providerName(provider)}</span>}
          <span className={price ? list.tag : `${list.tag} ${list.warning}`}>{names.whose[source]}</span>
          {unpricedRequests > 0 && (
            <span className={classes.unpriced}>
              {names.requests(unpricedRequests, formats.number(unpricedRequests))}
            </span>
          )}
          <LockMark lock={lock} />
        </div>
        {price && (
          <ul className={classes.amounts}>
            {describeAmounts(price.amounts, localization).map((text) => (
              <li key={text}>{text}</li>
            ))}
          </ul>
        )}
        {provider === null && <span className={list.detail}>{names.unused}</span>}
      </div>
      <div className={classes.acts}>
        {price === null && <LocalFree provider={provider} subject={subject} />}
        {price?.isOwn && (
          <Button
            size="compact-sm"
            variant="subtle"
            disabled={!canChange}
            aria-label={names.actOn(builtIn ? names.reset : names.remove, subject)}
            onClick={onReset}
          >
            {builtIn ? names.reset : names.remove}
          </Button>
        )}
        <Button
          size="compact-sm"
          variant="default"
          disabled={!canChange}
          aria-label={names.actOn(actionText, subject)}
          onClick={onEdit}
        >
          {actionText}
        </Button>
      </div>
    </li>
  );
}

/** What has no price on this machine most likely costs nothing. Only proposed, because it may be a proxy to what is paid for. */
function LocalFree({ provider, subject }: { provider: string | null; subject: string }) {
  const { prices: names, providers } = useLocalization().messages;
  const address = useControlState(({ views }) => views?.providers.find(({ id }) => id === provider)?.baseUrl ?? null);
  const isOpen = useControlState(
    ({ views }) => views?.providers.some(({ id, free }) => id === provider && free === null) ?? false,
  );
  const lock = useLocks().changing('providers', provider ?? '', 'free');
  const canChange = useCanChange() && lock === null;
  const command = useCommand();
  if (provider === null || !isOpen || address === null || !isLoopback(URL.parse(address)?.hostname ?? '')) return null;
  return (
    <>
      <Button
        size="compact-sm"
        variant="default"
        disabled={!canChange}
        loading={command.isRunning}
        aria-label={names.actOn(providers.connection.free, subject)}
        title={names.localFreeHint}
        onClick={() => void command.run({ type: 'provider.update', id: provider, changes: { free: true } })}
      >
        {providers.connection.free}
      </Button>
      {command.problem && <CommandProblem problem={command.problem} />}
    </>
  );
}
