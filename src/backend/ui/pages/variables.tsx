import { Button, PasswordInput, Textarea, TextInput } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState, type ClipboardEvent } from 'react'
import { call, type Entry } from '../api/call.ts'
import { announce } from '../components/announce.tsx'
import { State } from '../components/badge.tsx'
import { ConfirmDialog } from '../components/confirm-dialog.tsx'
import { CommandHint } from '../components/copy.tsx'
import { DataTable } from '../components/data-table.tsx'
import { FormDialog } from '../components/form-dialog.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { PageHeader } from '../components/page-header.tsx'
import { RelativeTime } from '../components/time.tsx'
import { useHasScope } from '../shell/scope-gate.tsx'
import { useAdding } from '../components/use-adding.ts'
import { modeTexts } from '../components/mode-texts.ts'
import { pageTitles } from '../page-titles.ts'
import { variablesTexts as texts } from './variable-texts.ts'

type Variable = Entry<'GET /variable'>

const refreshMs = 10_000
/** How soon servers report that they could not apply a change. */
const serverRefreshMs = 3000

export function Page() {
  const queries = useQueryClient()
  const mayChange = useHasScope('backend.deploy')
  const [isAdding, setAdding] = useAdding()
  const [setting, setSetting] = useState<Variable>()
  const [removing, setRemoving] = useState<Variable>()
  const refresh = () => queries.invalidateQueries({ queryKey: ['variable'] })
  const add = mayChange ? <Button onClick={() => setAdding(true)}>{texts.add}</Button> : null
  return (
    <>
      <PageHeader title={pageTitles.variables} text={texts.text} mode={modeTexts.atOnce} action={add} />
      <div className="stack">
        <FailedServers />
        <Missing {...(mayChange ? { onSet: setSetting } : {})} />
        <DataTable
          label={pageTitles.variables}
          queryKey={['variable']}
          load={async ({ search = '' }, signal) => {
            const { entry } = await call('GET /variable', {}, signal)
            return { entry: entry.filter(({ name }) => name.toLowerCase().includes(search.toLowerCase())) }
          }}
          rowKey={({ name }) => name}
          filters={[{ name: 'search', label: texts.name }]}
          columns={[
            { name: 'name', label: texts.name, render: (variable) => <Name variable={variable} /> },
            { name: 'set', label: texts.setIn, render: (variable) => <SetIn variable={variable} /> },
            { name: 'uses', label: texts.usedBy, width: '30%', render: ({ uses }) => <Uses uses={uses} /> },
            {
              name: 'changed',
              label: texts.changed,
              isMinor: true,
              render: (variable) => <Changed variable={variable} />,
            },
          ]}
          {...(mayChange
            ? {
                rowActions: (variable: Variable) => [
                  {
                    label: (variable.changed === null ? texts.set : texts.replace)(variable.name),
                    run: () => setSetting(variable),
                  },
                  ...(variable.changed === null
                    ? []
                    : [{ label: texts.unset(variable.name), isDanger: true, run: () => setRemoving(variable) }]),
                ],
              }
            : {})}
          empty={<EmptyState title={texts.empty} text={texts.emptyText} />}
          refreshMs={refreshMs}
        />
      </div>
      {setting === undefined && !isAdding ? null : (
        <SetDialog
          variable={setting ?? null}
          onClose={() => {
            setAdding(false)
            setSetting(undefined)
          }}
          onDone={refresh}
        />
      )}
      {removing === undefined ? null : (
        <UnsetDialog variable={removing} onClose={() => setRemoving(undefined)} onDone={refresh} />
      )}
    </>
  )
}

/** Servers that serve the active release with previous values. */
function FailedServers() {
  const servers = useQuery({
    queryKey: ['server', 'list'],
    queryFn: ({ signal }) => call('GET /server', {}, signal),
    refetchInterval: serverRefreshMs,
  })
  const failed = servers.data?.entry.filter(
    ({ state, error, wanted, release }) => state === 'failed' && error !== null && wanted === release,
  )
  if (failed === undefined || failed.length === 0) return null
  return (
    <section className="problem" role="alert">
      <p className="strong">{texts.failedTitle}</p>
      <p>{texts.failedText}</p>
      <ul>
        {failed.map(({ name, error }) => (
          <li key={name} dir="auto">
            {name}: {error}
          </li>
        ))}
      </ul>
    </section>
  )
}

function Missing({ onSet }: { readonly onSet?: (variable: Variable) => void }) {
  const list = useQuery({
    queryKey: ['variable', 'missing'],
    queryFn: ({ signal }) => call('GET /variable', {}, signal),
    refetchInterval: refreshMs,
  })
  const missing = list.data?.entry.filter((variable) => variable.missing) ?? []
  if (missing.length === 0) return null
  return (
    <section>
      <h2>{texts.missingTitle(missing.length)}</h2>
      <p className="soft">{texts.missingText}</p>
      <ul className="rows">
        {missing.map((variable) => (
          <li key={variable.name}>
            <State tone="bad">{texts.missing}</State>
            <span translate="no" className="mono">
              {variable.name}
            </span>
            <Uses uses={variable.uses} />
            {onSet === undefined ? null : (
              <Button variant="default" onClick={() => onSet(variable)}>
                {texts.set(variable.name)}
              </Button>
            )}
          </li>
        ))}
      </ul>
    </section>
  )
}

function Name({ variable: { name, description } }: { readonly variable: Variable }) {
  return (
    <>
      <span translate="no" className="mono">
        {name}
      </span>
      {description === null ? null : (
        <p className="soft" dir="auto">
          {description}
        </p>
      )}
    </>
  )
}

function SetIn({ variable }: { readonly variable: Variable }) {
  const { set, set_on: servers, missing } = variable
  if (missing) return <State tone="bad">{texts.missing}</State>
  const own = set.find((source) => source !== 'System')
  const isOnHosts = servers.length > 0 || own !== undefined
  if (!set.includes('System')) {
    if (!isOnHosts) return <State tone="quiet">{texts.default}</State>
    return (
      <>
        <State tone="quiet">{own ?? 'environment'}</State>
        <p className="soft" dir="auto">
          {texts.of(servers.length > 0 ? formatNames(servers) : texts.thisServer)}
        </p>
      </>
    )
  }
  return (
    <>
      <State tone="good">{texts.system}</State>
      {isOnHosts ? (
        <p className="soft" dir="auto">
          {describeOverride(variable)}
        </p>
      ) : null}
    </>
  )
}

/** Where a value in System is not used. */
function describeOverride({ set, set_on: servers }: Variable): string | undefined {
  if (servers.length > 0) return texts.overrides(formatNames(servers))
  const own = set.find((source) => source !== 'System')
  return own === undefined ? undefined : texts.overridesHere(nameSource(own))
}

function nameSource(source: Variable['set'][number]): string {
  return source === 'environment' ? texts.environment : source
}

const shown = 3

function formatNames(names: readonly string[]): string {
  const more = names.length - shown
  const listed = more > 1 ? [...names.slice(0, shown), texts.more(more)] : names
  return listed.join(', ')
}

function Uses({ uses }: { readonly uses: readonly string[] }) {
  if (uses.length === 0) return <span className="soft">{texts.unused}</span>
  return <span dir="auto">{formatNames(uses)}</span>
}

function Changed({ variable: { changed } }: { readonly variable: Variable }) {
  if (changed === null) return null
  return (
    <>
      <RelativeTime value={changed.at} /> {texts.by} <bdi translate="no">{changed.by}</bdi>
    </>
  )
}

interface DialogProps {
  onClose(): void
  onDone(): Promise<unknown>
}

function SetDialog({ variable, onClose, onDone }: DialogProps & { readonly variable: Variable | null }) {
  const [typedName, setName] = useState('')
  const [value, setValue] = useState('')
  const [hasLines, setHasLines] = useState(false)
  const name = variable?.name ?? typedName
  const type = variable?.type
  const isReplaced = variable !== null && variable.changed !== null
  const override = variable === null ? undefined : describeOverride(variable)
  const hints = [
    ...(type === 'integer' || type === 'boolean' ? [texts.typeHint[type]] : []),
    ...(isReplaced ? [texts.replaceHint] : []),
  ]
  const field = {
    name: 'value',
    label: texts.value,
    required: true,
    withAsterisk: false,
    value,
    autoComplete: 'off',
    ...(hints.length === 0 ? {} : { description: hints.join(' ') }),
    ...(variable === null ? {} : { 'data-autofocus': true }),
  }
  // A field for passwords would drop line ends, for example of a key.
  const keepLines = (event: ClipboardEvent<HTMLInputElement>) => {
    const pasted = event.clipboardData.getData('text')
    if (!pasted.trim().includes('\n')) return
    event.preventDefault()
    setHasLines(true)
    setValue(pasted)
  }
  return (
    <FormDialog
      title={variable === null ? texts.add : (isReplaced ? texts.replace : texts.set)(name)}
      action={variable === null ? texts.add : (isReplaced ? texts.replace : texts.set)(name)}
      onSave={async () => {
        await call('PUT /variable/:name', { params: { name }, body: { value } })
        announce(texts.setDone(name))
        await onDone()
      }}
      onSaved={onClose}
      onClose={onClose}
    >
      {(errorOf) => (
        <>
          {variable === null ? (
            <TextInput
              name="name"
              label={texts.name}
              description={texts.nameHint}
              className="mono-input"
              value={typedName}
              error={errorOf('name')}
              autoComplete="off"
              spellCheck={false}
              data-autofocus
              onChange={(event) => setName(event.currentTarget.value)}
            />
          ) : null}
          {hasLines ? (
            <Textarea
              {...field}
              autosize
              minRows={4}
              maxRows={12}
              spellCheck={false}
              error={errorOf('value')}
              onChange={(event) => setValue(event.currentTarget.value)}
            />
          ) : (
            <PasswordInput
              {...field}
              error={errorOf('value')}
              onPaste={keepLines}
              onChange={(event) => setValue(event.currentTarget.value)}
            />
          )}
          <Button
            variant="transparent"
            size="compact-sm"
            px={0}
            className="align-start"
            onClick={() => {
              if (hasLines) setValue('')
              setHasLines(!hasLines)
            }}
          >
            {hasLines ? texts.oneLine : texts.manyLines}
          </Button>
          <p className="soft">{override ?? texts.applies}</p>
          <CommandHint command={`waypost env:set ${name || 'NAME'}`} />
        </>
      )}
    </FormDialog>
  )
}

function UnsetDialog({ variable, onClose, onDone }: DialogProps & { readonly variable: Variable }) {
  const { name, uses, needed } = variable
  return (
    <ConfirmDialog
      title={texts.unsetTitle(name)}
      action={texts.unset(name)}
      command={`waypost env:unset ${name}`}
      isDanger
      onConfirm={async () => {
        await call('DELETE /variable/:name', { params: { name }, query: needed ? { force: 'true' } : {} })
        announce(texts.unsetDone(name))
        await onDone()
      }}
      onClose={onClose}
    >
      <div className="stack">
        {uses.length === 0 ? (
          <p>{texts.unusedText}</p>
        ) : (
          <div>
            <p>{texts.uses}</p>
            <ul className="changes">
              {uses.map((use) => (
                <li key={use} dir="auto">
                  {use}
                </li>
              ))}
            </ul>
          </div>
        )}
        {needed ? <p className="warnings">{texts.unsetNeeded}</p> : null}
        {!needed && uses.length > 0 ? (
          <p>
            {variable.required || describeOverride(variable) !== undefined ? texts.unsetOverridden : texts.unsetDefault}
          </p>
        ) : null}
      </div>
    </ConfirmDialog>
  )
}
