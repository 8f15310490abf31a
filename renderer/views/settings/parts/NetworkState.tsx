import { IconAlertTriangle, IconInfoCircle } from '@tabler/icons-react';
import type { NetworkView } from '../../../../server/contract/status-views.ts';
import { CommandProblem } from '../../../components/feedback/CommandProblem.tsx';
import { useLocalization } from '../../../messages/use-messages.ts';
import { useControlState } from '../../../state/control/use-control.ts';
import { useQuery } from '../../../state/control/use-query.ts';
import { useProviderName } from '../../../state/providers/providers.ts';
import { fieldOf } from '../fields/settings-field.ts';
import type { SettingsForm } from '../fields/use-settings-form.ts';
import classes from '../Settings.module.css';

type Way = NetworkView['ways'][number];

/** How providers would be reached now, and which certificate authorities are trusted. */
export function NetworkState() {
  const { messages } = useLocalization();
  const { network: names } = messages.settings;
  const revision = useControlState((state) => state.views?.status.revision ?? null);
  const { answer, problem } = useQuery({ type: 'network' }, revision);
  if (problem) return <CommandProblem problem={problem} />;
  if (!answer) return null;
  return (
    <div className={classes.network}>
      <section aria-label={names.waysTitle}>
        <h3>{names.waysTitle}</h3>
        <ProxyList ways={answer.ways} />
        <p className={classes.text}>{answer.asksSystem ? names.asksSystem : names.asksNobody}</p>
        {answer.noProxy && <p className={classes.text}>{names.noProxy(answer.noProxy)}</p>}
      </section>
      <CertificateAuthorities authorities={answer.authorities} />
    </div>
  );
}

function ProxyList({ ways }: Pick<NetworkView, 'ways'>) {
  const { messages } = useLocalization();
  const { network: names } = messages.settings;
  const providerName = useProviderName();
  // Nothing on a network answers for it.
  const demoId = useControlState((state) => state.views?.providers.find(({ isDemo }) => isDemo)?.id ?? null);
  const shown = ways.filter(({ provider }) => provider !== demoId);
  if (shown.length === 0) return <p className={classes.text}>{names.noProviders}</p>;
  const describe = ({ proxies, by, unusable }: Way) => {
    const how = proxies.map((proxy) => (proxy === null ? names.directly : names.through(proxy))).join(names.orElse);
    const usable = proxies.length > 0 ? [names.way(how, names.by[by])] : [];
    return [...usable, ...(unusable.length > 0 ? [names.unusable(unusable.join(', '))] : [])].join(' ');
  };
  return (
    <ul>
      {[...Map.groupBy(shown, describe)].map(([text, same]) => (
        <li key={text}>
          <strong>{same.map(({ provider }) => providerName(provider)).join(' · ')}</strong>
          {messages.labelled('', text)}
        </li>
      ))}
    </ul>
  );
}

function CertificateAuthorities({ authorities: { files, system, problem } }: Pick<NetworkView, 'authorities'>) {
  const { messages, formats } = useLocalization();
  const { network: names } = messages.settings;
  return (
    <section aria-label={names.trustTitle}>
      <h3>{names.trustTitle}</h3>
      <ul>
        <li>{system === null ? names.systemOff : names.system(formats.number(system))}</li>
        {problem && <li>{names.notUsed(problem)}</li>}
        {files.map((file) => (
          <li key={file.path}>
            <code>{file.path}</code>
            {messages.labelled(
              '',
              file.problem === null
                ? names.file(file.certificates, formats.number(file.certificates))
                : names.notUsed(file.problem),
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

const loopback = /^(127\.\d+\.\d+\.\d+|localhost|::1)$/;

const none: readonly never[] = [];

/** Explains the chosen address: who can reach Sluice there, and from when it applies. */
export function AddressNotes({ form }: { form: SettingsForm }) {
  const { messages: texts, formats } = useLocalization();
  const messages = texts.settings;
  const listensAt = useControlState((state) => state.views?.status.listensAt ?? null);
  const givenFields = useControlState((state) => state.views?.status.givenAddress ?? none);
  const host = form.textOf(fieldOf('host')).trim();
  const isOpen = host !== '' && !loopback.test(host);
  const options = givenFields.map((name) => `--${name}`);
  const listensElsewhere = listensAt !== null && new URL(listensAt).port !== form.textOf(fieldOf('port'));
  const notes = [
    givenFields.length < 2 && messages.nextStart,
    options.length > 0 && messages.givenAtStart(formats.list(options)),
    listensElsewhere && messages.listensAt(listensAt),
  ];
  return (
    <>
      {isOpen && (
        <p className={classes.warning} role="alert">
          <IconAlertTriangle className={classes.icon} size={16} aria-hidden />
          <span>{messages.lanWarning}</span>
        </p>
      )}
      <p className={classes.note}>
        <IconInfoCircle className={classes.icon} size={16} aria-hidden />
        <span>{notes.filter((note) => note !== false).join(formats.gap)}</span>
      </p>
    </>
  );
}
