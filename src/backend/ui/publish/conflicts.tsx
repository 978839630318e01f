import { Button, Radio } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { call } from '../api/call.ts'
import { announce } from '../components/announce.tsx'
import { MethodBadge } from '../components/badge.tsx'
import { PageHeader } from '../components/page-header.tsx'
import { ProblemAlert } from '../components/problem.tsx'
import { RelativeTime } from '../components/time.tsx'
import type { Draft } from '../edit/draft.ts'
import { lastSave, refreshDraft } from '../edit/save-change.ts'
import { isWithin, keysOf } from '../edit/values.ts'
import { sessionStore } from '../session/session.ts'
import { useStore } from '../session/store.ts'
import type { DraftConflict } from './api.ts'
import { describeEntry } from './describe-entry.ts'
import { toYaml } from './to-yaml.ts'
import { countOf, numbers } from '../components/format.ts'
import { changedByTexts } from '../edit/edit-texts.ts'
import { changesTexts, publishTexts } from './publish-texts.ts'

const texts = {
  title: (conflicts: number) => `${countOf(conflicts, 'conflict')} with the active release`,
  text: 'These were changed both in the draft and in a release that was activated in the meantime. Choose which version to keep. All other changes are already merged.',
  base: 'Before',
  theirs: 'Published',
  mine: 'In the draft',
  absent: 'not present',
  emptyText: 'empty text',
  me: 'You changed this',
  apply: (chosen: number, all: number) =>
    chosen === all
      ? 'Continue with these'
      : `Continue with these (${numbers.format(chosen)} of ${numbers.format(all)})`,
  applied: 'The draft is now based on the active release',
  open: 'Open',
} as const

const sides = ['theirs', 'mine'] as const
type Side = (typeof sides)[number]

/** What the draft and a later release changed differently, with a choice for each. */
export function Conflicts({ draft }: { readonly draft: Draft }) {
  const { conflicts, revision } = draft
  const [take, setTake] = useState<Readonly<Record<string, Side>>>({})
  const queries = useQueryClient()
  const applying = useMutation({
    mutationFn: () =>
      call('POST /draft/rebase', {
        body: { revision, take: Object.fromEntries(conflicts.map(({ name }) => [name, take[name] ?? 'mine'])) },
      }),
    onSuccess: async () => {
      lastSave.clear()
      announce(texts.applied)
      await refreshDraft(queries)
    },
  })
  const chosen = conflicts.filter(({ name }) => take[name] !== undefined).length
  return (
    <>
      <PageHeader title={publishTexts.page} text={texts.title(conflicts.length)} />
      <div className="stack-wide conflicts">
        <p className="conflicts-text">{texts.text}</p>
        {conflicts.map((conflict) => (
          <Conflict
            key={conflict.name}
            conflict={conflict}
            authors={{ theirs: draft.published ?? undefined, mine: findAuthor(draft, conflict.name) }}
            value={take[conflict.name]}
            onChange={(side) => setTake({ ...take, [conflict.name]: side })}
          />
        ))}
        {applying.isError ? <ProblemAlert error={applying.error} /> : null}
        <div className="conflicts-end">
          <Button disabled={chosen < conflicts.length} loading={applying.isPending} onClick={() => applying.mutate()}>
            {texts.apply(chosen, conflicts.length)}
          </Button>
        </div>
      </div>
    </>
  )
}

/** Who changed the entry of a conflict in the draft. */
function findAuthor({ entries }: Draft, name: string): Change | undefined {
  const entry = entries.find((one) => isWithin(name, one.name))
  return entry === undefined || entry.by === null ? undefined : { by: entry.by, at: entry.changed_at }
}

interface ConflictProps {
  readonly conflict: DraftConflict
  readonly authors: Readonly<Record<Side, Change | undefined>>
  readonly value: Side | undefined
  onChange(side: Side): void
}

function Conflict({ conflict, authors, value, onChange }: ConflictProps) {
  const { method, label, group, link } = describeEntry({
    ...conflict,
    status: conflict.mine === null ? 'removed' : 'changed',
  })
  const write = (shown: unknown) => (shown === null ? undefined : typeof shown === 'string' ? shown : toYaml(shown))
  const isCode = (shown: unknown) => conflict.at === null || typeof shown !== 'string'
  const base = write(conflict.base)
  const field = conflict.at === null ? [] : keysOf(conflict.at).slice(method === undefined ? 2 : 4)
  return (
    <div className="conflict">
      {link === undefined ? null : (
        <Link {...link} className="conflict-open">
          {texts.open}
        </Link>
      )}
      <Radio.Group
        value={value ?? null}
        onChange={(side) => onChange(side === 'theirs' ? 'theirs' : 'mine')}
        label={
          <span className="publish-link">
            {method === undefined ? null : <MethodBadge method={method} />}
            <bdi translate="no" className={method === undefined ? 'strong' : 'mono strong'}>
              {label}
            </bdi>
            <span className="soft">{changesTexts.groups[group]}</span>
            {field.length === 0 ? null : (
              <code translate="no" dir="auto">
                {field.join(' › ')}
              </code>
            )}
          </span>
        }
      >
        <div className="conflict-sides">
          <div className="conflict-side">
            <p className="conflict-name soft">{texts.base}</p>
            <Value text={base} other={base} isCode={isCode(conflict.base)} />
          </div>
          {sides.map((side) => (
            <Radio.Card key={side} value={side} className="conflict-side">
              <span className="conflict-name">
                <Radio.Indicator size="xs" />
                <span>
                  <span className="strong">{texts[side]}</span>
                  <Author author={authors[side]} />
                </span>
              </span>
              <Value text={write(conflict[side])} other={base} isCode={isCode(conflict[side])} />
            </Radio.Card>
          ))}
        </div>
      </Radio.Group>
    </div>
  )
}

interface Change {
  readonly by: string
  readonly at: string | null
}

/** Who changed it, and when: "ann changed this 2 min. ago". */
function Author({ author }: { readonly author: Change | undefined }) {
  const me = useStore(sessionStore)?.user.name
  if (author === undefined) return null
  return (
    <span className="soft conflict-author">
      <bdi>{author.by === me ? texts.me : changedByTexts.user(author.by)}</bdi>{' '}
      {author.at === null ? null : <RelativeTime value={author.at} />}
    </span>
  )
}

interface ValueProps {
  /** Undefined if there is no value. */
  readonly text: string | undefined
  /** The value before. */
  readonly other: string | undefined
  /** Whether it is YAML or a whole file, not the text of a field. */
  readonly isCode: boolean
}

/** A value, with the lines that differ from the one before marked. */
function Value({ text, other = '', isCode }: ValueProps) {
  if (text === undefined || text === '')
    return <span className="soft">{text === undefined ? texts.absent : texts.emptyText}</span>
  const known = new Set(other.split('\n'))
  const Element = isCode ? 'code' : 'span'
  return (
    <Element className="conflict-value" dir="auto">
      {text.split('\n').map((line, index) => (
        <span key={`${index} ${line}`} className={known.has(line) ? undefined : 'conflict-line'}>
          {line}
          {'\n'}
        </span>
      ))}
    </Element>
  )
}
