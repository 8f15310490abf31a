import { IconChevronRight, IconLock } from '@tabler/icons-react';
import type { PanelClient, PanelModel } from '../../server/contract/panel-view.ts';
import { usePanelWords } from './panel-words.tsx';
import classes from './Rows.module.css';
import { nameOfClient, Section, WindowLink } from './Rows.tsx';

/** The clients of today, each with the model that it uses and who answers. */
export function ClientList({ clients }: { clients: readonly PanelClient[] }) {
  const { messages } = usePanelWords();
  const texts = messages.panel;
  return (
    <Section title={texts.clients}>
      {clients.length === 0 ? (
        <p className={classes.empty}>
          {texts.noClients}{' '}
          <WindowLink path="/connect" className={undefined}>
            {texts.connect}
          </WindowLink>
        </p>
      ) : (
        <ul>
          {clients.map((client) => (
            <li key={`${client.client} ${client.keyId}`} className={classes.row}>
              <ClientRow client={client} />
            </li>
          ))}
        </ul>
      )}
    </Section>
  );
}

function ClientRow({ client: { client, keyName, models } }: { client: PanelClient }) {
  const { messages, formats } = usePanelWords();
  const texts = messages.panel;
  const [latest] = models;
  return (
    <WindowLink path="/models" className={`${classes.main} ${classes.client}`}>
      <span className={classes.cut}>
        <span className={classes.name}>{nameOfClient(client)}</span>{' '}
        <span className={classes.small}>{keyName ?? texts.removedKey}</span>
        {latest && (
          <span className={classes.target}>
            <ModelLine model={latest} />
            {models.length > 1 && ` ${texts.moreModels(formats.number(models.length - 1))}`}
          </span>
        )}
      </span>
      <IconChevronRight size={14} className={classes.soft} aria-hidden />
    </WindowLink>
  );
}

/** `sonnet → gpt-5 · OpenAI`. */
function ModelLine({ model: { model, target, lock } }: { model: PanelModel }) {
  const texts = usePanelWords().messages.panel;
  const answers = target
    ? [target.model === model ? null : target.model, target.providerName].filter(Boolean).join(' · ')
    : texts.nobody;
  return (
    <>
      {model} → {answers} {lock && <IconLock size={12} aria-hidden />}
    </>
  );
}
