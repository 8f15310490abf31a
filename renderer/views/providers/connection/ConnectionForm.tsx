import {
  Button,
  Collapse,
  Group,
  NativeSelect,
  NumberInput,
  SimpleGrid,
  Stack,
  Switch,
  TagsInput,
  TextInput,
} from '@mantine/core';
import { type FormErrors, type UseFormReturnType, useForm } from '@mantine/form';
import { IconChevronDown, IconChevronRight, IconPlus, IconTrash } from '@tabler/icons-react';
import { useEffect, useEffectEvent, useRef, useState } from 'react';
import { longestTimeoutMs } from '../../../../server/contract/bounds.ts';
import type { Lock } from '../../../../server/contract/lock.ts';
import type { ProviderView } from '../../../../server/contract/provider-views.ts';
import { secondMs } from '../../../../server/contract/units.ts';
import { IconAction } from '../../../components/buttons/IconAction.tsx';
import { Fieldset } from '../../../components/forms/Fieldset.tsx';
import { FormActions } from '../../../components/forms/FormActions.tsx';
import { Section } from '../../../components/layout/Section.tsx';
import { Lockable } from '../../../components/locks/Lockable.tsx';
import { useMessages } from '../../../messages/use-messages.ts';
import { useCommand } from '../../../state/control/use-command.ts';
import { useControlState } from '../../../state/control/use-control.ts';
import { type Edits, rebaseEdits, settleEdits } from '../../../state/edits/edits.ts';
import { useLocks } from '../../../state/rights/use-rights.ts';
import classes from '../Providers.module.css';
import {
  type ConnectionValues,
  changesOf,
  exampleBaseUrls,
  isBaseUrl,
  phases,
  servesOptions,
  valuesOf,
} from './connection-values.ts';

/** Connection settings of a provider. Follows changes of the values in force. */
export function ConnectionForm({ provider }: { provider: ProviderView }) {
  const { connection: names } = useMessages().providers;
  const { form, conflict } = useConnectionForm(provider);
  const revision = useControlState((state) => state.views?.status.revision ?? null);
  const locks = useLocks();
  const lockOf = (field: keyof ProviderView) => locks.changing('providers', provider.id, field);
  const command = useCommand();
  const [showsAdvanced, setShowsAdvanced] = useState(false);
  const Chevron = showsAdvanced ? IconChevronDown : IconChevronRight;
  const save = async (values: ConnectionValues) => {
    const expected = revision === null ? {} : { expectedRevision: revision };
    const changes = changesOf(values);
    const onSaved = conflict.sending(values);
    if (await command.run({ type: 'provider.update', id: provider.id, changes, ...expected })) onSaved();
  };
  // An error cannot be shown in a hidden field.
  const showWrong = ({ proxyUrl, certificate }: FormErrors) => (proxyUrl || certificate) && setShowsAdvanced(true);
  return (
    <Section title={names.title}>
      <form className={classes.body} onSubmit={form.onSubmit((values) => void save(values), showWrong)} noValidate>
        <Stack gap="sm">
          <AddressFields form={form} lockOf={lockOf} />
          <ModelsFields form={form} lockOf={lockOf} />
          <Lockable lock={lockOf('free')}>
            <Switch
              label={names.free}
              description={names.freeHint}
              checked={form.values.free ?? provider.isFree}
              onChange={(event) => form.setFieldValue('free', event.currentTarget.checked)}
            />
          </Lockable>
          <Button
            variant="subtle"
            size="xs"
            className={classes.start}
            leftSection={<Chevron size={14} />}
            aria-expanded={showsAdvanced}
            onClick={() => setShowsAdvanced(!showsAdvanced)}
          >
            {names.advanced}
          </Button>
          <Collapse expanded={showsAdvanced} transitionDuration={0}>
            <AdvancedFields form={form} lockOf={lockOf} />
          </Collapse>
          <FormActions
            isChanged={form.isDirty()}
            conflict={conflict.exists ? { onKeep: conflict.keep } : null}
            command={command}
            onDiscard={conflict.reload}
          />
        </Stack>
      </form>
    </Section>
  );
}

/** Keeps what was typed when the values in force change. */
function useConnectionForm(provider: ProviderView) {
  const { connection: names, add } = useMessages().providers;
  const form = useForm<ConnectionValues>({
    initialValues: valuesOf(provider),
    validate: {
      baseUrl: (value) => (isBaseUrl(value) ? null : add.addressWrong),
      certificate: (value) =>
        /^([0-9a-f]{2}:){31}[0-9a-f]{2}$|^$/i.test(value.trim()) ? null : names.certificateWrong,
      proxyUrl: (value, { proxy }) => (proxy !== 'url' || isBaseUrl(value) ? null : names.proxyWrong),
    },
  });
  const { setInitialValues, setValues, getValues, reset } = form;
  const [hasConflict, setConflict] = useState(false);
  const current = JSON.stringify(valuesOf(provider));
  const base = useRef(valuesOf(provider));
  const editsOf = (draft: ConnectionValues) => ({ base: base.current, draft, hasConflict: false });
  const show = (edits: Edits<ConnectionValues>) => {
    base.current = edits.base;
    setInitialValues(edits.base);
    setValues(edits.draft);
  };
  // An effect event, because the form's functions change on each render and setting values clears its errors.
  const rebase = useEffectEvent((text: string) => {
    const rebased = rebaseEdits(editsOf(getValues()), JSON.parse(text));
    show(rebased);
    if (rebased.hasConflict) setConflict(true);
  });
  useEffect(() => rebase(current), [current]);
  const reload = () => {
    reset();
    setConflict(false);
  };
  /** Call the result when `values` have been saved: it keeps what was typed meanwhile. */
  const sending = (values: ConnectionValues) => {
    const sent = editsOf(values);
    return () => {
      const settled = settleEdits(editsOf(getValues()), sent);
      show(settled);
      setConflict(settled.hasConflict);
    };
  };
  return { form, conflict: { exists: hasConflict, sending, reload, keep: () => setConflict(false) } };
}

function AddressFields({ form, lockOf }: ConnectionFieldsProps) {
  const { add, connection: names } = useMessages().providers;
  const isAzure = form.values.dialect === 'azure';
  return (
    <>
      <Lockable lock={lockOf('name')}>
        <TextInput label={add.name} maxLength={200} autoComplete="off" {...form.getInputProps('name')} />
      </Lockable>
      <Lockable lock={lockOf('baseUrl')}>
        <TextInput
          label={add.address}
          description={names.addressHint(exampleBaseUrls[form.values.dialect])}
          inputMode="url"
          autoComplete="off"
          {...form.getInputProps('baseUrl')}
        />
      </Lockable>
      <Group grow gap="sm" align="flex-start">
        <Lockable lock={lockOf('dialect')}>
          <NativeSelect
            label={names.dialect}
            data={[
              { value: 'openai', label: 'OpenAI' },
              { value: 'azure', label: 'Azure OpenAI' },
              { value: 'anthropic', label: 'Anthropic' },
              { value: 'gemini', label: 'Google Gemini' },
              { value: 'bedrock', label: 'Amazon Bedrock' },
              { value: 'vertex', label: 'Google Vertex AI' },
            ]}
            {...form.getInputProps('dialect')}
          />
        </Lockable>
        {isAzure && (
          <Lockable lock={lockOf('apiVersion')}>
            <TextInput
              label={names.apiVersion}
              placeholder="2025-04-01-preview"
              autoComplete="off"
              {...form.getInputProps('apiVersion')}
            />
          </Lockable>
        )}
      </Group>
    </>
  );
}

function ModelsFields({ form, lockOf }: ConnectionFieldsProps) {
  const { connection: names } = useMessages().providers;
  return (
    <Lockable lock={lockOf('models')}>
      <NativeSelect
        label={names.models}
        value={form.values.discovers ? 'discover' : 'list'}
        onChange={(event) => form.setFieldValue('discovers', event.currentTarget.value === 'discover')}
        data={[
          { value: 'discover', label: names.discover },
          { value: 'list', label: names.list },
        ]}
      />
      {!form.values.discovers && (
        <TagsInput
          label={names.modelNames}
          description={names.modelNamesHint}
          acceptValueOnBlur
          {...form.getInputProps('models')}
        />
      )}
    </Lockable>
  );
}

type ConnectionFormState = UseFormReturnType<ConnectionValues>;

/** Properties of every part of the form. */
interface ConnectionFieldsProps {
  form: ConnectionFormState;
  /** The lock on a field of the provider, if any. */
  lockOf(field: keyof ProviderView): Lock | null;
}

/** Rarely needed settings: timeouts, a proxy, headers, and how usage is determined. */
function AdvancedFields({ form, lockOf }: ConnectionFieldsProps) {
  const { connection: names } = useMessages().providers;
  return (
    <Stack gap="sm">
      <Lockable lock={lockOf('timeouts')}>
        <Fieldset legend={names.timeouts}>
          <SimpleGrid cols={2} spacing="sm">
            {phases.map((phase) => (
              <NumberInput
                key={phase}
                label={names.phases[phase]}
                placeholder={names.usual[phase]}
                min={0.001}
                max={longestTimeoutMs / secondMs}
                suffix=" s"
                hideControls
                {...form.getInputProps(`timeouts.${phase}`)}
              />
            ))}
          </SimpleGrid>
        </Fieldset>
      </Lockable>
      <Lockable lock={lockOf('proxy')}>
        <ProxyFields form={form} />
      </Lockable>
      <Lockable lock={lockOf('certificate')}>
        <TextInput
          label={names.certificate}
          description={names.certificateHint}
          autoComplete="off"
          spellCheck={false}
          {...form.getInputProps('certificate')}
        />
      </Lockable>
      <Lockable lock={lockOf('headers')}>
        <HeaderFields form={form} />
      </Lockable>
      <Lockable lock={lockOf('serves')}>
        <NativeSelect
          label={names.serves}
          description={names.servesHint}
          data={servesOptions.map((value) => ({ value, label: names.servesChoices[value] }))}
          {...form.getInputProps('serves')}
        />
      </Lockable>
      <Lockable lock={lockOf('contextTokens')}>
        <NumberInput
          label={names.contextTokens}
          description={names.contextTokensHint}
          placeholder={names.contextTokensUsual}
          allowDecimal={false}
          allowNegative={false}
          thousandSeparator
          hideControls
          {...form.getInputProps('contextTokens')}
        />
      </Lockable>
      <Lockable lock={lockOf('askUsage')}>
        <Switch
          label={names.askUsage}
          description={names.askUsageHint}
          {...form.getInputProps('askUsage', { type: 'checkbox' })}
        />
      </Lockable>
    </Stack>
  );
}

function ProxyFields({ form }: { form: ConnectionFormState }) {
  const { connection: names } = useMessages().providers;
  return (
    <Group grow gap="sm" align="flex-start">
      <NativeSelect
        label={names.proxy}
        data={[
          { value: 'system', label: names.proxySystem },
          { value: 'direct', label: names.proxyDirect },
          { value: 'url', label: names.proxyUrl },
        ]}
        {...form.getInputProps('proxy')}
      />
      {form.values.proxy === 'url' && (
        <TextInput
          label={names.proxyAddress}
          placeholder="http://proxy.example.com:3128"
          autoComplete="off"
          {...form.getInputProps('proxyUrl')}
        />
      )}
    </Group>
  );
}

function HeaderFields({ form }: { form: ConnectionFormState }) {
  const { connection: names } = useMessages().providers;
  return (
    <Fieldset legend={names.headers} hint={names.headersHint}>
      <Stack gap="xs">
        {form.values.headers.map((header, index) => (
          <Group key={`header-${String(index)}`} gap="xs" wrap="nowrap" align="flex-end">
            <TextInput
              label={names.headerName}
              autoComplete="off"
              flex={1}
              {...form.getInputProps(`headers.${index}.name`)}
            />
            <TextInput
              label={names.headerValue}
              autoComplete="off"
              flex={2}
              {...form.getInputProps(`headers.${index}.value`)}
            />
            <IconAction
              label={names.removeHeader(header.name)}
              icon={<IconTrash size={18} />}
              onClick={() => form.removeListItem('headers', index)}
            />
          </Group>
        ))}
        <Button
          size="xs"
          variant="default"
          className={classes.start}
          leftSection={<IconPlus size={14} />}
          onClick={() => form.insertListItem('headers', { name: '', value: '' })}
        >
          {names.addHeader}
        </Button>
      </Stack>
    </Fieldset>
  );
}
