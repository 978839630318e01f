import { endSentence } from '../components/problem.tsx'
import { Link } from '@tanstack/react-router'
import { MethodBadge, State } from '../components/badge.tsx'
import { CodeBlock } from '../components/copy.tsx'
import type { Plan } from './api.ts'
import { describeEntry } from './describe-entry.ts'
import { changesTexts } from '../components/change-texts.ts'
import { planTexts as texts } from './publish-texts.ts'

/** What publishing adds, changes and removes. */
export function PlanChanges({ changes }: { readonly changes: Plan['changes'] }) {
  return (
    <ul className="plan-changes">
      {changes.map((one) => (
        <li key={`${one.kind} ${one.name}`}>
          <p className="plan-change">
            <span className="soft">{changesTexts[one.change]}</span> <ChangeName change={one} />
          </p>
          {one.source === undefined ? null : (
            <p translate="no" className="mono soft change-source" dir="auto">
              {one.source}
            </p>
          )}
          {one.details.map(({ text, breaking }) => (
            <p key={text} className={breaking ? 'change-detail' : 'change-detail soft'} dir="auto">
              {text}
            </p>
          ))}
          {one.calls === undefined ? null : (
            <p className={one.calls > 0 ? 'strong' : 'soft'}>{texts.calls(one.calls)}</p>
          )}
        </li>
      ))}
    </ul>
  )
}

/** Links to the editor of what changed. */
function ChangeName({ change: { kind, name, at, source, change } }: { readonly change: Plan['changes'][number] }) {
  const [method = '', path = ''] = name.split(' ')
  const file = source?.replace(/:\d+$/, '') ?? ''
  const { link } = describeEntry({ name, at: at ?? null, file, status: change })
  const shown =
    kind === 'route' ? (
      <>
        <MethodBadge method={method} />{' '}
        <bdi translate="no" className="mono">
          {path}
        </bdi>
      </>
    ) : (
      <bdi translate="no" className="strong">
        {name}
      </bdi>
    )
  return (
    <>
      {kind === 'route' ? null : <span className="soft">{kind}</span>}
      {link === undefined || source === undefined ? (
        <span className="publish-link">{shown}</span>
      ) : (
        <Link {...link} className="publish-link">
          {shown}
        </Link>
      )}
    </>
  )
}

/** A migration that runs, with its SQL. */
export function PlanMigration({
  migration: { name, sql, breaking, losses },
}: {
  readonly migration: Plan['migrations'][number]
}) {
  return (
    <details className="publish-migration">
      <summary>
        <bdi translate="no" className="mono">
          {name}
        </bdi>{' '}
        {breaking.length === 0 ? null : <State tone="bad">{changesTexts.breaking}</State>}
      </summary>
      {breaking.map((text) => (
        <p key={text} dir="auto">
          {endSentence(text)}
        </p>
      ))}
      {losses.map((text) => (
        <p key={text} className="bad" dir="auto">
          {texts.loss(text)}
        </p>
      ))}
      {sql.length === 0 ? (
        <p className="soft">{texts.code}</p>
      ) : (
        <CodeBlock code={sql.map((one) => `${one.replace(/;?\s*$/, '')};`).join('\n\n')} label={texts.sqlOf(name)} />
      )}
    </details>
  )
}
