import { ActionIcon, Button, Checkbox, Tooltip } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Undo2 } from 'lucide-react'
import { useState } from 'react'
import { call } from '../api/call.ts'
import { announce } from '../components/announce.tsx'
import { MethodBadge, State } from '../components/badge.tsx'
import { ConfirmDialog } from '../components/confirm-dialog.tsx'
import { RelativeTime } from '../components/time.tsx'
import type { Draft } from '../edit/draft.ts'
import { lastSave, refreshDraft } from '../edit/save-change.ts'
import { sessionStore } from '../session/session.ts'
import { useStore } from '../session/store.ts'
import type { DraftEntry } from './api.ts'
import { describeEntry, nameOfEntry, type Group } from './describe-entry.ts'
import { changesTexts as texts, marksTexts as marks } from './publish-texts.ts'

const tones = { added: 'good', changed: 'info', removed: 'bad' } as const

interface ChangeGroupsProps {
  readonly draft: Draft
  /** The changes that are not published. */
  readonly left: ReadonlySet<string>
  readonly canEdit: boolean
  onChange(left: ReadonlySet<string>): void
}

/** The changes of the draft by kind, with their authors. */
export function ChangeGroups({ draft: { entries }, left, canEdit, onChange }: ChangeGroupsProps) {
  const [asked, setAsked] = useState<DraftEntry | 'all'>()
  const groups = Map.groupBy(entries, (entry) => describeEntry(entry).group)
  const chosen = entries.filter(({ name }) => !left.has(name)).length
  const toggle = (name: string, isOn: boolean) => {
    const next = new Set(left)
    if (isOn) next.delete(name)
    else next.add(name)
    onChange(next)
  }
  return (
    <section className="stack" aria-label={texts.title}>
      <div className="publish-all">
        <Checkbox
          aria-label={texts.all}
          label={texts.selected(chosen, entries.length)}
          checked={chosen === entries.length}
          indeterminate={chosen > 0 && chosen < entries.length}
          onChange={(event) => onChange(new Set(event.currentTarget.checked ? [] : entries.map(({ name }) => name)))}
        />
        <Button variant="default" className="publish-review" onClick={showPlan}>
          {texts.review}
        </Button>
        {canEdit ? (
          <Button variant="default" onClick={() => setAsked('all')}>
            {texts.discardAll}
          </Button>
        ) : null}
      </div>
      {(Object.keys(texts.groups) as Group[]).map((group) => {
        const own = groups.get(group)
        return own === undefined ? null : (
          <section key={group} aria-labelledby={`group-${group}`}>
            <h2 id={`group-${group}`} className="publish-group">
              {texts.groups[group]}
            </h2>
            <ul className="publish-entries">
              {own.map((entry) => (
                <li key={entry.name}>
                  <Checkbox
                    aria-label={texts.select(nameOfEntry(entry))}
                    checked={!left.has(entry.name)}
                    onChange={(event) => toggle(entry.name, event.currentTarget.checked)}
                  />
                  <EntryName entry={entry} />
                  <Author entry={entry} />
                  {canEdit ? (
                    <Tooltip label={texts.discard}>
                      <ActionIcon aria-label={texts.discardOf(nameOfEntry(entry))} onClick={() => setAsked(entry)}>
                        <Undo2 size={14} aria-hidden />
                      </ActionIcon>
                    </Tooltip>
                  ) : null}
                </li>
              ))}
            </ul>
          </section>
        )
      })}
      {asked === undefined ? null : <Discard entries={entries} asked={asked} onClose={() => setAsked(undefined)} />}
    </section>
  )
}

/** On narrow screens the plan is below the changes. */
function showPlan(): void {
  const plan = document.querySelector<HTMLElement>('.publish-plan')
  plan?.scrollIntoView({ block: 'start' })
  plan?.querySelector('h2')?.focus({ preventScroll: true })
}

function EntryName({ entry }: { readonly entry: DraftEntry }) {
  const { method, label, note, link } = describeEntry(entry)
  const name = (
    <>
      {method === undefined ? null : <MethodBadge method={method} />}
      <bdi translate="no" className={method === undefined && !label.startsWith('/') ? undefined : 'mono'}>
        {label}
      </bdi>
    </>
  )
  return (
    <span className="publish-name">
      {link === undefined ? (
        <span className="publish-link">{name}</span>
      ) : (
        <Link {...link} className="publish-link">
          {name}
        </Link>
      )}
      {note === undefined ? null : <span className="soft">{note}</span>}
      <State tone={tones[entry.status]}>{marks[entry.status]}</State>
    </span>
  )
}

function Author({ entry: { by, changed_at: at } }: { readonly entry: DraftEntry }) {
  return (
    <span className="publish-author soft">
      {by === null ? null : <bdi translate="no">{by}</bdi>}
      {by === null || at === null ? null : ' · '}
      {at === null ? null : <RelativeTime value={at} />}
    </span>
  )
}

interface DiscardProps {
  /** Empty if they are not known. */
  readonly entries: readonly DraftEntry[]
  readonly asked: DraftEntry | 'all'
  onClose(): void
}

/** Asks before changes are discarded. */
export function Discard({ entries, asked, onClose }: DiscardProps) {
  const queries = useQueryClient()
  const me = useStore(sessionStore)?.user.name
  const others = othersOf(entries, me)
  const name = asked === 'all' ? '' : nameOfEntry(asked)
  return (
    <ConfirmDialog
      title={asked === 'all' ? texts.discardAllTitle(entries.length) : texts.discardTitle(name)}
      action={asked === 'all' ? texts.discardAllAction(entries.length) : texts.discard}
      isDanger
      onConfirm={async () => {
        const { kept } = await call('POST /draft/discard', { body: asked === 'all' ? {} : { changes: [asked.name] } })
        lastSave.clear()
        await refreshDraft(queries)
        const [first] = kept
        announce(first === undefined ? texts.discarded : texts.kept(first.name, first.reason))
      }}
      onClose={onClose}
    >
      {asked === 'all' ? texts.discardAllText(others) : texts.discardText}
    </ConfirmDialog>
  )
}

/** The other people who made changes. */
export function othersOf(entries: readonly DraftEntry[], me: string | undefined): readonly string[] {
  return [...new Set(entries.flatMap(({ by }) => (by === null || by === me ? [] : [by])))]
}
