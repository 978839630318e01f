import { Button, Group, Radio } from '@mantine/core'
import { applyPatch, structuredPatch } from 'diff'
import { useState } from 'react'
import { CancelButton } from '../components/cancel-button.tsx'
import { Dialog } from '../components/dialog.tsx'
import { ChangedBy } from './changed-by.tsx'
import { useServerDraft } from './draft.ts'
import type { DraftEdit, TextEdit } from './draft-edit.ts'
import { DiffView } from './diff-view.tsx'
import { isEqual, keysOf, mergeValues, withValueAt, type Clash } from './values.ts'
import { numbers } from '../components/format.ts'
import { publishTexts as publish } from '../publish/publish-texts.ts'

const conflictTexts = {
  title: 'Changed since you started',
  text: (values: number) =>
    `${values === 1 ? 'One value was' : `${numbers.format(values)} values were`} changed in both places. Choose which to keep. All other changes are combined.`,
  merged: 'The changes are to different values. Both are kept.',
  base: 'Before',
  mine: 'Yours',
  theirs: 'In the file',
  absent: 'not set',
  back: 'Back',
  apply: 'Continue with these values',
  file: 'This is how your text differs from the file.',
  merge: 'Keep both changes',
  takeFile: 'Take the file',
  keepFile: 'Keep my text',
} as const

interface ConflictDialogProps {
  readonly edit: DraftEdit | TextEdit
  onClose(): void
}

/** Compares an edit with what someone else saved meanwhile. Continues with a choice for each value; nothing is saved. */
export function ConflictDialog({ edit, onClose }: ConflictDialogProps) {
  return (
    <Dialog title={conflictTexts.title} size={720} onClose={onClose}>
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
        {clashes.length === 0 ? conflictTexts.merged : conflictTexts.text(clashes.length)}
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
        <CancelButton onClick={onClose}>{conflictTexts.back}</CancelButton>
        <Button onClick={apply} disabled={clashes.some((one) => choiceOf(one) === undefined)}>
          {conflictTexts.apply}
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
    mine: conflictTexts.mine,
    theirs: useServerDraft() === undefined ? conflictTexts.theirs : publish.inDraft,
  }
  return (
    <Radio.Group
      className="clash"
      label={
        <code translate="no" dir="auto">
          {label}
        </code>
      }
      value={value ?? null}
      onChange={(side) => onChange(side === 'theirs' ? 'theirs' : 'mine')}
    >
      <p className="soft clash-base">
        {conflictTexts.base}:{' '}
        <code translate="no" dir="auto">
          {write(clash.base)}
        </code>
      </p>
      <div className="clash-sides">
        {sides.map((side) => (
          <Radio.Card key={side} value={side} className="clash-side">
            <Radio.Indicator size="xs" />
            <span>
              <span className="strong">{names[side]}</span>
              <code translate="no" dir="auto" className="clash-value">
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
  if (value === undefined) return conflictTexts.absent
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
        {conflictTexts.file}
      </p>
      {isEqual(theirs, edit.text) ? null : (
        <DiffView before={theirs} after={edit.text} label={edit.loaded?.file ?? ''} />
      )}
      <Group justify="flex-end" gap="xs" className="form-actions">
        <CancelButton onClick={onClose}>{conflictTexts.back}</CancelButton>
        <Button variant="default" onClick={() => take(theirs)}>
          {conflictTexts.takeFile}
        </Button>
        <Button {...(merged === false ? {} : { variant: 'default' })} onClick={() => take(edit.text)}>
          {conflictTexts.keepFile}
        </Button>
        {merged === false ? null : <Button onClick={() => take(merged)}>{conflictTexts.merge}</Button>}
      </Group>
    </div>
  )
}
