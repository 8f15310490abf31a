import { IconChevronRight, IconLock } from '@tabler/icons-react';
import { useState } from 'react';
import { nameOfClient } from '../../server/contract/known-clients.ts';
import type { PanelClient, PanelModel } from '../../server/contract/panel-view.ts';
import { usePanelWords } from './panel-words.tsx';
import classes from './Rows.module.css';
import { Section } from './Rows.tsx';

/** The clients of today, each with the model that it uses and who answers. */
export const idOfClient = ({ client, keyId }: PanelClient) => `${client} ${keyId}`;

/** Of more, the rest is behind a button, so that the latest requests stay in sight. */
const clientsAtFirst = 3;

interface ClientListProps {
  clients: readonly PanelClient[];
  /** Opens the menu of a client. */
  onOpen(client: PanelClient): void;
}

export function ClientList({ clients, onOpen }: ClientListProps) {
  const { messages, formats } = usePanelWords();
  const texts = messages.panel;
  const [isWhole, setWhole] = useState(false);
  const shown = isWhole ? clients : clients.slice(0, clientsAtFirst);
  const hidden = clients.length - clientsAtFirst;
  return (
    <Section title={texts.clients}>
      {clients.length === 0 ? (
        <p className={classes.empty}>{texts.noClients}</p>
      ) : (
        <ul>
          {shown.map((client) => (
            <li key={idOfClient(client)} className={classes.row}>
              <ClientRow client={client} onOpen={() => onOpen(client)} />
            </li>
          ))}
          {hidden > 0 && (
            <li className={classes.row}>
              <button
                type="button"
                className={`${classes.main} ${classes.small}`}
                aria-expanded={isWhole}
                onClick={() => setWhole(!isWhole)}
              >
                {isWhole ? texts.fewerClients : texts.moreClients(formats.number(hidden))}
              </button>
            </li>
          )}
        </ul>
      )}
    </Section>
  );
}

function ClientRow({ client, onOpen }: { client: PanelClient; onOpen(): void }) {
  const { messages, formats } = usePanelWords();
  const texts = messages.panel;
  const { keyName, models } = client;
  const [latest] = models;
  const name = nameOfClient(client.client);
  return (
    <button
      type="button"
      className={`${classes.main} ${classes.client}`}
      data-client={idOfClient(client)}
      onClick={onOpen}
    >
      <span className={classes.cut}>
        <span className={classes.name}>{name}</span> {/* Many keys are called like their client. */}
        {keyName !== name && <span className={classes.small}>{keyName ?? texts.removedKey}</span>}
        {latest && (
          <span className={classes.target}>
            <ModelLine model={latest} />
            {models.length > 1 && ` ${texts.moreModels(formats.number(models.length - 1))}`}
          </span>
        )}
      </span>
      <IconChevronRight size={14} className={classes.soft} aria-hidden />
    </button>
  );
}

/** `sonnet → gpt-5 · OpenAI`. */
function ModelLine({ model: { model, target, lock } }: { model: PanelModel }) {
  const texts = usePanelWords().messages.panel;
  const answers = target && [target.model === model ? null : target.model, target.providerName].filter(Boolean);
  return (
    <>
      {model} → {answers ? answers.join(' · ') : <span className={classes.bad}>{texts.nobody}</span>}{' '}
      {lock && <IconLock size={12} aria-hidden />}
    </>
  );
}
