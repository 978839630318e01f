import { Button, Checkbox, NativeSelect, Radio, TextInput } from '@mantine/core'
import { useMutation, useQueryClient, type UseQueryResult } from '@tanstack/react-query'
import { call, type ResponseOf } from '../api/call.ts'
import { announce } from '../components/announce.tsx'
import { MethodBadge } from '../components/badge.tsx'
import { CodeBlock } from '../components/copy.tsx'
import { ProblemAlert } from '../components/problem.tsx'
import { ChoiceSelect } from '../edit/choices.tsx'
import { DiffView } from '../edit/diff-view.tsx'
import { lastSave, refreshDraft } from '../edit/save-change.ts'
import {
  anyToken,
  byDefault,
  chooseReading,
  isPublic,
  isReadingPublic,
  ofScope,
  type ApiState,
} from './table-api-state.ts'
import type { Design } from './table-state.ts'
import { apiTexts as texts } from './table-texts.ts'

interface MethodsProps {
  readonly state: ApiState
  readonly known: readonly string[]
  /** The column that identifies a row in paths. */
  readonly rowKey: string
  onChange(methods: ApiState['methods']): void
}

/** Which methods there are, and who may call each. */
export function Methods({ state, known, rowKey, onChange }: MethodsProps) {
  const { methods, path, scope, owner } = state
  return (
    <fieldset>
      <legend>{texts.methods}</legend>
      <Checkbox
        label={texts.publicReading}
        description={owner === '' ? texts.publicReadingText : texts.publicReadingOwned}
        disabled={owner !== '' || !methods.some(({ method, isOn }) => method === 'GET' && isOn)}
        checked={isReadingPublic(state)}
        onChange={(event) => onChange(chooseReading(methods, event.currentTarget.checked))}
      />
      {methods.map((one, index) => {
        const place = one.at === 'list' ? path : `${path}/:${rowKey}`
        const label = `${one.method} ${place}`
        const set = (part: Partial<(typeof methods)[number]>) =>
          onChange(methods.map((other, at) => (at === index ? { ...other, ...part } : other)))
        return (
          <div key={`${one.at} ${one.method}`} className="api-method">
            <Checkbox
              aria-label={label}
              checked={one.isOn}
              onChange={(event) => set({ isOn: event.currentTarget.checked })}
            />
            <MethodBadge method={one.method} />
            <span className="api-place">
              <bdi translate="no" className="mono">
                {place}
              </bdi>{' '}
              <span className="soft">
                {texts.operations[`${one.at} ${one.method}` as keyof typeof texts.operations]}
              </span>
            </span>
            <NativeSelect
              aria-label={texts.accessOf(label)}
              disabled={!one.isOn}
              data={[
                ...(owner === '' ? [{ value: isPublic, label: texts.public }] : []),
                { value: ofScope, label: texts.tokensWith(scope) },
                ...known
                  .filter((name) => name !== scope)
                  .map((name) => ({ value: `=${name}`, label: texts.tokensWith(name) })),
                { value: anyToken, label: texts.anyToken },
              ]}
              value={owner !== '' && one.access === isPublic ? ofScope : one.access}
              onChange={(event) => set({ access: event.currentTarget.value })}
            />
          </div>
        )
      })}
    </fieldset>
  )
}

export type Parent = ResponseOf<'POST /draft/table-api'>['parents'][number]

interface OwnerProps {
  /** The columns that may contain the id of a user. */
  readonly own: readonly string[]
  readonly parents: readonly Parent[]
  readonly state: ApiState
  onOwner(column: string): void
  onOpen(columns: readonly string[]): void
}

/** Whose rows they are, and which rows of others they may refer to. */
export function Owner({ own, parents, state: { owner, openParents }, onOwner, onOpen }: OwnerProps) {
  const through = parents.filter(({ column, problem }) => problem === null && !own.includes(column))
  const choices = [
    ...own.map((value) => ({ value, label: texts.ownerOf(value) })),
    ...through.map(({ column, table }) => ({ value: column, label: texts.ownerThrough(column, table) })),
  ]
  const others = parents.filter(({ column }) => column !== owner)
  return (
    <fieldset className="stack-small">
      <Checkbox
        label={texts.owner}
        description={choices.length === 0 ? texts.noOwner : texts.ownerText}
        disabled={choices.length === 0}
        checked={owner !== ''}
        onChange={(event) => onOwner(event.currentTarget.checked ? (choices[0]?.value ?? '') : '')}
      />
      {owner === '' || (choices.length < 2 && through.length === 0) ? null : (
        <NativeSelect
          label={texts.ownerColumn}
          data={choices}
          value={owner}
          onChange={(event) => onOwner(event.currentTarget.value)}
        />
      )}
      {parents.map(({ column, table, problem }) =>
        problem === null ? null : (
          <p key={column} className="soft small">
            {texts.noThrough(table, problem)}
          </p>
        ),
      )}
      {others.length > 0 ? <p className="soft small">{texts.ownerOfReferences}</p> : null}
      {others.map(({ column, table, method }) => (
        <Checkbox
          key={column}
          label={texts.openParent(column, table)}
          description={texts.openParentText(method)}
          checked={openParents.includes(column)}
          onChange={(event) =>
            onOpen(
              event.currentTarget.checked ? [...openParents, column] : openParents.filter((name) => name !== column),
            )
          }
        />
      ))}
    </fieldset>
  )
}

interface SoftDeleteProps {
  /** The columns that can mark a row as deleted. */
  readonly columns: readonly string[]
  readonly value: string
  onChange(column: string): void
}

/** What DELETE does with a row. */
export function SoftDelete({ columns, value, onChange }: SoftDeleteProps) {
  if (columns.length === 0) return null
  return (
    <Radio.Group label={texts.delete} value={value} onChange={onChange}>
      <div className="stack-small radio-list">
        {columns.map((name) => (
          <Radio key={name} value={name} label={texts.softDelete(name)} />
        ))}
        <Radio value="" label={texts.deleteRow} />
      </div>
    </Radio.Group>
  )
}

interface EventFieldsProps {
  readonly state: ApiState
  readonly known: readonly string[]
  readonly isMissing: boolean
  onChange(part: Partial<ApiState>): void
}

/** The event of new rows, and who may subscribe to it. */
export function EventFields({ state, known, isMissing, onChange }: EventFieldsProps) {
  return (
    <fieldset>
      <Checkbox
        label={texts.event}
        checked={state.hasEvent}
        onChange={(event) => onChange({ hasEvent: event.currentTarget.checked })}
      />
      {state.hasEvent ? (
        <div className="two-fields">
          <TextInput
            label={texts.eventName}
            {...(isMissing ? { description: texts.eventMissing } : {})}
            className="mono-input"
            value={state.event}
            onChange={(event) => onChange({ event: event.currentTarget.value.trim() })}
          />
          <ChoiceSelect
            label={texts.eventFor}
            choices={[
              { value: byDefault, label: state.owner === '' ? state.scope : `${state.scope}.events` },
              ...(state.owner === '' ? [] : [{ value: ofScope, label: state.scope }]),
              ...known.filter((name) => name !== state.scope).map((name) => ({ value: name, label: name })),
              { value: anyToken, label: texts.everyone },
            ]}
            value={state.holders}
            onChange={(holders) => onChange({ holders })}
          />
        </div>
      ) : null}
      {state.hasEvent && state.owner !== '' ? <p className="soft small">{texts.eventOfAll}</p> : null}
    </fieldset>
  )
}

interface FilesProps {
  readonly connection: string
  readonly design: Design
  readonly preview: UseQueryResult<ResponseOf<'POST /draft/table-api'>>
}

/** The files that will be written. */
export function Files({ connection, design, preview }: FilesProps) {
  return (
    <section className="stack-small api-preview">
      <h3>{texts.preview}</h3>
      {preview.error === null ? null : <ProblemAlert error={preview.error} />}
      {preview.data?.index ? (
        <MissingIndex connection={connection} design={design} columns={preview.data.index} />
      ) : null}
      {preview.data?.warnings.map((warning) => (
        <p key={warning} className="warnings">
          {warning}
        </p>
      ))}
      {preview.data === undefined && preview.error === null ? <p className="soft">{texts.wait}</p> : null}
      {preview.data?.files.map(({ file, before, text }) => (
        <div key={file}>
          <p translate="no" className="mono">
            {file} {before === null ? <span className="soft">{texts.newFile}</span> : null}
          </p>
          {before === null ? (
            <CodeBlock code={text ?? ''} label={file} />
          ) : (
            <DiffView label={file} before={before} after={text ?? ''} />
          )}
        </div>
      ))}
    </section>
  )
}

interface MissingIndexProps {
  readonly connection: string
  readonly design: Design
  readonly columns: readonly string[]
}

/** Offers the index that the list needs. */
function MissingIndex({ connection, design, columns }: MissingIndexProps) {
  const queries = useQueryClient()
  const adding = useMutation({
    mutationFn: async () => {
      const body = { connection, table: design.name, design: { ...design, index: [...design.index, [...columns]] } }
      const done = await call('POST /draft/migration', { body: { ...body, preview: false } })
      const { problems, failed, saved } = done
      const problem = problems[0]?.message ?? failed
      if (problem !== null) throw new Error(problem)
      if (saved !== null) {
        const about = { entries: [{ name: design.name, fields: ['index'] }], pages: [] }
        lastSave.set(saved, about, done.can_undo)
      }
      await refreshDraft(queries)
      announce(texts.indexAdded)
    },
  })
  return (
    <div className="note stack-small">
      <p>{texts.noIndex}</p>
      <div>
        <Button variant="default" loading={adding.isPending} onClick={() => adding.mutate()}>
          {texts.addIndex(columns.join(', '))}
        </Button>
      </div>
      {adding.isError ? <ProblemAlert error={adding.error} /> : null}
    </div>
  )
}
