import { Skeleton, Tabs } from '@mantine/core'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState, type ReactNode } from 'react'
import { ProblemAlert } from '../components/problem.tsx'
import type { DraftEdit } from './draft-edit.ts'
import { SaveBar } from './save-bar.tsx'
import { YamlTab } from './yaml-tab.tsx'

const tabsTexts = {
  form: 'Form',
  yaml: 'YAML',
} as const

interface EditTabsProps {
  readonly edit: DraftEdit
  /** The JSON pointer of the entry that the page edits. */
  readonly at: string
  /** The fields. */
  readonly children: ReactNode
  /** The name of the tab of the fields. */
  readonly label?: string
  /** Other tabs, by name, after the form. */
  readonly more?: readonly { readonly name: string; readonly label: string; readonly content: ReactNode }[]
}

/** The tabs of an editor: its form with the save bar, and the YAML of the entry. The tab is in the URL. */
export function EditTabs({ edit, at, children, label = tabsTexts.form, more = [] }: EditTabsProps) {
  const { tab = 'form' }: { readonly tab?: string } = useSearch({ strict: false })
  const navigate = useNavigate()
  const [shown, setShown] = useState<string>()
  if (edit.loadError !== undefined && edit.loadError !== null) return <ProblemAlert error={edit.loadError} />
  // While more values are loaded, such as a schema to edit beside the page, the fields stay and keep the focus.
  if (edit.isLoading && shown !== at) return <Skeleton height={240} />
  if (shown !== at) setShown(at)
  const open = (next: string | null) => {
    void navigate({ to: '.', search: next === 'form' || next === null ? {} : { tab: next }, replace: true })
  }
  return (
    <Tabs value={tab} onChange={open} keepMounted={false}>
      <Tabs.List>
        <Tabs.Tab value="form">{label}</Tabs.Tab>
        {more.map(({ name, label: own }) => (
          <Tabs.Tab key={name} value={name}>
            {own}
          </Tabs.Tab>
        ))}
        <Tabs.Tab value="yaml">{tabsTexts.yaml}</Tabs.Tab>
      </Tabs.List>
      <Tabs.Panel value="form">
        <div className="stack-wide">
          {children}
          <SaveBar edit={edit} />
        </div>
      </Tabs.Panel>
      {more.map(({ name, content }) => (
        <Tabs.Panel key={name} value={name}>
          {content}
        </Tabs.Panel>
      ))}
      <Tabs.Panel value="yaml">
        <YamlTab at={at} isLocked={edit.changes > 0} />
      </Tabs.Panel>
    </Tabs>
  )
}
