import { Button, Group, Radio } from '@mantine/core'
import { applyPatch, structuredPatch } from 'diff'
import { useState } from 'react'
import { Dialog } from '../components/dialog.tsx'
import { editing as texts } from '../strings/editing.ts'
import { publish } from '../strings/publish.ts'
import { ChangedBy } from './changed-by.tsx'
import { useServerDraft, type DraftEdit, type TextEdit } from './draft.ts'
import { DiffView } from './diff-view.tsx'
import { isEqual, keysOf, mergeValues, withValueAt, type Clash } from './values.ts'

interface ConflictDialogProps {
  readonly edit: DraftEdit | TextEdit
  onClose(): void
}

/** Compares an edit with what someone else saved meanwhile. Continues with a choice for each value; nothing is saved. */
export function ConflictDialog({ edit, onClose }: ConflictDialogProps) {
  return (
    <Dialog title={texts.conflict.title} size={720} onClose={onClose}>
      {'get' in edit ? <Values edit={edit} onClose={onClose} /> : <Texts edit={edit} onClose={onClose} />}
    </Dialog>
  )
}

function Values({ edit, onClose }: { readonly edit: DraftEdit; onClose(): void }) {
  const merges = edit.others.map(({ at, base, theirs }) => ({ at, ...mergeValues(base, edit.get(at), theirs) }))
  const clashes = merges.flatMap(({ at, clashes: found }) => found.map((one) => ({ ...one, owner: at })))
  const [taken, setTaken] = useState<Readonly<Record<string, 'mine' | 'theirs'>>>({})
  const choiceOf = ({ owner, at }: { owner: string; at: string }) => taken[owner + at]
  const apply = () => {
    const values = merges.map(({ at, value }) => {
      const theirs = clashes.filter((one) => one.owner === at && choiceOf(one) === 'theirs')
      return [at, theirs.reduce<unknown>((all, one) => withValueAt(all, keysOf(one.at), one.theirs), value)] as const
    })
    edit.rebase(Object.fromEntries(values))
    onClose()
  }
  return (
    <div className="stack">
      <p>
        <ChangedBy edit={edit} />
        {clashes.length === 0 ? texts.conflict.merged : texts.conflict.text(clashes.length)}
      </p>
      {clashes.map((clash) => (
        <Choice
          key={clash.owner + clash.at}
          clash={clash}
          label={describePlace(clash.owner + clash.at)}
          value={choiceOf(clash)}
          onChange={(side) => setTaken({ ...taken, [clash.owner + clash.at]: side })}
        />
      ))}
      <Group justify="flex-end" gap="xs" className="form-actions">
        <Button variant="default" onClick={onClose} data-autofocus>
          {texts.conflict.back}
        </Button>
        <Button onClick={apply} disabled={clashes.some((one) => choiceOf(one) === undefined)}>
          {texts.conflict.apply}
        </Button>
      </Group>
    </div>
  )
}

interface ChoiceProps {
  readonly clash: Clash
  readonly label: string
  readonly value: 'mine' | 'theirs' | undefined
  onChange(side: 'mine' | 'theirs'): void
}

function Choice({ clash, label, value, onChange }: ChoiceProps) {
  const sides = ['mine', 'theirs'] as const
  const names = {
    mine: texts.conflict.mine,
    theirs: useServerDraft() === undefined ? texts.conflict.theirs : publish.inDraft,
  }
  return (
    <Radio.Group
      className="clash"
      label={<code dir="auto">{label}</code>}
      value={value ?? null}
      onChange={(side) => onChange(side === 'theirs' ? 'theirs' : 'mine')}
    >
      <p className="soft clash-base">
        {texts.conflict.base}: <code dir="auto">{write(clash.base)}</code>
      </p>
      <div className="clash-sides">
        {sides.map((side) => (
          <Radio.Card key={side} value={side} className="clash-side">
            <Radio.Indicator size="xs" />
            <span>
              <span className="strong">{names[side]}</span>
              <code dir="auto" className="clash-value">
                {write(clash[side])}
              </code>
            </span>
          </Radio.Card>
        ))}
      </div>
    </Radio.Group>
  )
}

/** The last key, with the one before: `todo_done › description`. */
function describePlace(pointer: string): string {
  return keysOf(pointer).slice(-3).join(' › ')
}

function write(value: unknown): string {
  if (value === undefined) return texts.conflict.absent
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2)
}

function Texts({ edit, onClose }: { readonly edit: TextEdit; onClose(): void }) {
  const theirs = edit.theirs ?? ''
  const merged = applyPatch(theirs, structuredPatch('', '', edit.base, edit.text))
  const take = (text: string) => {
    edit.rebase(text)
    onClose()
  }
  return (
    <div className="stack">
      <p>
        <ChangedBy edit={edit} />
        {texts.conflict.file}
      </p>
      {isEqual(theirs, edit.text) ? null : (
        <DiffView before={theirs} after={edit.text} label={edit.loaded?.file ?? ''} />
      )}
      <Group justify="flex-end" gap="xs" className="form-actions">
        <Button variant="default" onClick={onClose} data-autofocus>
          {texts.conflict.back}
        </Button>
        <Button variant="default" onClick={() => take(theirs)}>
          {texts.conflict.takeFile}
        </Button>
        <Button {...(merged === false ? {} : { variant: 'default' })} onClick={() => take(edit.text)}>
          {texts.conflict.keepFile}
        </Button>
        {merged === false ? null : <Button onClick={() => take(merged)}>{texts.conflict.merge}</Button>}
      </Group>
    </div>
  )
}
