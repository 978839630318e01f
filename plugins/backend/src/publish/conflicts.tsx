import { Button, Radio } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { call } from '../api/call.ts'
import { announce } from '../components/announce.tsx'
import { MethodBadge } from '../components/badge.tsx'
import { PageHeader } from '../components/page-header.tsx'
import { ProblemAlert } from '../components/problem.tsx'
import { lastSave, refreshDraft, type Draft } from '../edit/draft.ts'
import { keysOf } from '../edit/values.ts'
import { publish } from '../strings/publish.ts'
import type { DraftConflict } from './api.ts'
import { describeEntry } from './describe-entry.ts'
import { toYaml } from './to-yaml.ts'

const { conflicts: texts } = publish
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
      <PageHeader title={publish.page} text={texts.title(conflicts.length)} />
      <div className="stack-wide conflicts">
        <p className="conflicts-text">{texts.text}</p>
        {conflicts.map((conflict) => (
          <Conflict
            key={conflict.name}
            conflict={conflict}
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

interface ConflictProps {
  readonly conflict: DraftConflict
  readonly value: Side | undefined
  onChange(side: Side): void
}

function Conflict({ conflict, value, onChange }: ConflictProps) {
  const { method, label, group, link } = describeEntry({
    ...conflict,
    status: conflict.mine === null ? 'removed' : 'changed',
  })
  const write = (shown: unknown) =>
    shown === null ? '' : typeof shown === 'string' && conflict.at === null ? shown : toYaml(shown)
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
            <bdi className={method === undefined ? 'strong' : 'mono strong'}>{label}</bdi>
            <span className="soft">{publish.changes.groups[group]}</span>
            {field.length === 0 ? null : <code dir="auto">{field.join(' › ')}</code>}
          </span>
        }
      >
        <div className="conflict-sides">
          <div className="conflict-side">
            <p className="conflict-name soft">{texts.base}</p>
            <Value text={base} other={base} />
          </div>
          {sides.map((side) => (
            <Radio.Card key={side} value={side} className="conflict-side">
              <span className="conflict-name">
                <Radio.Indicator size="xs" />
                <span className="strong">{texts[side]}</span>
              </span>
              <Value text={write(conflict[side])} other={base} />
            </Radio.Card>
          ))}
        </div>
      </Radio.Group>
    </div>
  )
}

/** A value, with the lines that differ from the one before marked. */
function Value({ text, other }: { readonly text: string; readonly other: string }) {
  if (text === '') return <span className="soft">{texts.absent}</span>
  const known = new Set(other.split('\n'))
  return (
    <code className="conflict-value" dir="auto">
      {text.split('\n').map((line, index) => (
        <span key={`${index} ${line}`} className={known.has(line) ? undefined : 'conflict-line'}>
          {line}
          {'\n'}
        </span>
      ))}
    </code>
  )
}
