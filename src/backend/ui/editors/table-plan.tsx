import { Checkbox, Tabs } from '@mantine/core'
import type { ResponseOf } from '../api/call.ts'
import { CodeBlock } from '../components/copy.tsx'
import { endSentence } from '../components/problem.tsx'
import { useServerDraft } from '../edit/draft.ts'
import { UseList } from '../edit/entry-dialogs.tsx'
import type { Row } from './table-state.ts'
import { tableEditorTexts as texts } from './table-texts.ts'

/** What saving a table would do. */
export type TablePlan = ResponseOf<'POST /draft/migration'>

/** A problem as sentences. */
export function writeProblem({ message, hint }: Pick<TablePlan['problems'][number], 'message' | 'hint'>): string {
  return [message, hint].flatMap((part) => (part === null ? [] : endSentence(part))).join(' ')
}

/** What happens on Save. */
export function Consequences({ plan }: { readonly plan: TablePlan | undefined }) {
  const isServer = useServerDraft() !== undefined
  if (plan?.change === undefined || plan.change === null) return <p className="save-state">{texts.unsaved}</p>
  const { file, before, text } = plan.change
  const updated = plan.files.map((one) => one.file)
  const say = isServer ? { deletes: texts.deletesStaged, writes: texts.stages, amends: texts.amendsStaged } : texts
  const what = text === null ? say.deletes(file) : before === null ? say.writes(file) : say.amends(file)
  return (
    <div className="save-state consequences">
      <p>
        {what} {updated.length === 0 ? null : texts.updates(updated)}
      </p>
      {plan.losses.length === 0 ? null : (
        <p className="bad">
          {texts.losses} {plan.losses.join(', ')}
        </p>
      )}
      {plan.breaking.map((one) => (
        <p key={one} className="warn">
          {texts.breaking(one)}
        </p>
      ))}
    </div>
  )
}

/** What names the columns that are renamed or dropped, before anything is saved. */
export function Uses({ uses }: { readonly uses: TablePlan['uses'] }) {
  if (uses.length === 0) return null
  const groups = [
    { title: texts.changed, list: uses.filter(({ to, problem }) => to !== null && problem === null) },
    { title: texts.unchanged, list: uses.filter(({ to, problem }) => to !== null && problem !== null) },
    {
      title: texts.removedWith,
      list: uses.filter((one) => one.to === null && one.problem === null && !one.is_blocking),
    },
    { title: texts.blocking, list: uses.filter((one) => one.to === null && one.is_blocking) },
    { title: texts.mentions, list: uses.filter((one) => one.to === null && one.problem !== null && !one.is_blocking) },
  ]
  return (
    <section className="stack-small table-uses" aria-label={texts.uses}>
      {groups.map(({ title, list }) =>
        list.length === 0 ? null : (
          <div key={title(1)}>
            <h2>{title(list.length)}</h2>
            <UseList
              uses={list.map(({ column, to, at, source, problem }) => ({
                at,
                source,
                note: (
                  <>
                    <bdi translate="no" className="mono">
                      {to === null || problem !== null ? column : `${column} → ${to}`}
                    </bdi>
                    {problem === null ? null : <span className="soft"> {problem}</span>}
                  </>
                ),
              }))}
            />
          </div>
        ),
      )}
    </section>
  )
}

interface AdditionsProps {
  readonly rows: readonly Row[]
  readonly additions: TablePlan['additions']
  isChosen(row: Row): boolean
  onChoose(row: Row, isOn: boolean): void
}

/** Offers to add new columns to the actions, schemas and events of the table, in the same save. */
export function Additions({ rows, additions, isChosen, onChoose }: AdditionsProps) {
  if (additions.length === 0) return null
  const byColumn = Map.groupBy(additions, ({ column }) => column)
  return (
    <section className="stack-small table-uses" aria-label={texts.additions.title}>
      <h2>{texts.additions.title}</h2>
      {rows.map((row) => {
        const places = row.isRemoved ? [] : (byColumn.get(row.name) ?? [])
        if (places.length === 0) return null
        const isRequired = places.some((one) => one.is_required)
        const isOn = isChosen(row)
        const others = places.filter(({ problem }) => problem !== null)
        return (
          <div key={row.id} className="stack-small">
            <Checkbox
              label={texts.additions.add(row.name)}
              description={isRequired ? texts.additions.required : texts.additions.optional}
              checked={isOn}
              onChange={(event) => onChoose(row, event.currentTarget.checked)}
            />
            {isOn ? <UseList uses={places.filter(({ problem }) => problem === null)} /> : null}
            {isOn && others.length > 0 ? (
              <>
                <p className="soft">{texts.unchanged(others.length)}</p>
                <UseList uses={others.map((one) => ({ ...one, note: <span className="soft"> {one.problem}</span> }))} />
              </>
            ) : null}
            {isOn || !isRequired ? null : <p className="warn">{texts.additions.fails(row.name)}</p>}
          </div>
        )
      })}
    </section>
  )
}

/** The migration as YAML and as SQL. */
export function Preview({ plan }: { readonly plan: TablePlan | undefined }) {
  const sqlOf = (kind: 'sqlite' | 'postgresql') =>
    plan === undefined ? '' : plan.sql[kind].map((one) => `${one};`).join('\n\n')
  const codes = [
    { name: 'yaml', label: texts.yaml, code: plan?.change?.text ?? '' },
    { name: 'sqlite', label: texts.databases.sqlite, code: sqlOf('sqlite') },
    { name: 'postgresql', label: texts.databases.postgresql, code: sqlOf('postgresql') },
  ]
  return (
    <aside className="table-preview" aria-label={texts.preview}>
      <Tabs defaultValue="yaml">
        <Tabs.List>
          {codes.map(({ name, label }) => (
            <Tabs.Tab key={name} value={name}>
              {label}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {codes.map(({ name, label, code }) => (
          <Tabs.Panel key={name} value={name}>
            {code === '' ? <p className="soft">{texts.noPreview}</p> : <CodeBlock code={code} label={label} />}
          </Tabs.Panel>
        ))}
      </Tabs>
    </aside>
  )
}
