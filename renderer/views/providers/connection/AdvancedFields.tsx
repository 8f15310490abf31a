import { Button, Group, NativeSelect, NumberInput, SimpleGrid, Stack, Switch, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { IconPlus, IconTrash } from '@tabler/icons-react';
import { longestTimeoutMs } from '../../../../server/contract/bounds.ts';
import type { Lock } from '../../../../server/contract/lock.ts';
import type { ProviderView } from '../../../../server/contract/provider-views.ts';
import { secondMs } from '../../../../server/contract/units.ts';
import { IconAction } from '../../../components/buttons/IconAction.tsx';
import { Fieldset } from '../../../components/forms/Fieldset.tsx';
import { Lockable } from '../../../components/locks/Lockable.tsx';
import { useMessages } from '../../../messages/use-messages.ts';
import classes from '../Providers.module.css';
import { type ConnectionValues, phases, servesOptions } from './connection-values.ts';

type ConnectionFormState = UseFormReturnType<ConnectionValues>;

/** Properties of every part of the form. */
export interface ConnectionFieldsProps {
  form: ConnectionFormState;
  /** The lock on a field of the provider, if any. */
  lockOf(field: keyof ProviderView): Lock | null;
}

/** Rarely needed settings: timeouts, a proxy, headers, and how usage is determined. */
export function AdvancedFields({ form, lockOf }: ConnectionFieldsProps) {
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
