import { Button } from '@mantine/core'
import { Suspense, type ComponentType, type ReactNode } from 'react'
import { DataTable, type DataTableProps } from './data-table.tsx'
import { PageHeader } from './page-header.tsx'
import { useAdding } from './use-adding.ts'

interface TablePageProps<Row> extends Omit<DataTableProps<Row>, 'label'> {
  readonly title: string
  /** What the list contains, for screen readers, if the title does not say it. */
  readonly label?: string
  /** One sentence below the title. */
  readonly text?: ReactNode
  /** Whether changes apply at once or go to the draft. */
  readonly mode?: string
  /** Adds an entry in a dialog, which a link with `?add=1` opens too. */
  readonly add?: { readonly label: string; readonly dialog: ComponentType<{ onClose(): void }> } | undefined
  /** Other buttons. */
  readonly actions?: ReactNode
  /** Between the header and the list. */
  readonly notes?: ReactNode
  /** Below the list: dialogs, for example. */
  readonly children?: ReactNode
}

/** A page that is a list, with the button and the dialog that add an entry to it. */
export function TablePage<Row>(props: TablePageProps<Row>) {
  const { title, label = title, text, mode, add, actions, notes, children, ...table } = props
  const [isAdding, setAdding] = useAdding()
  return (
    <>
      <PageHeader
        title={title}
        text={text}
        {...(mode !== undefined && { mode })}
        action={add && <Button onClick={() => setAdding(true)}>{add.label}</Button>}
      >
        {actions}
      </PageHeader>
      {notes}
      <DataTable {...table} label={label} />
      {children}
      <Suspense>{add && isAdding ? <add.dialog onClose={() => setAdding(false)} /> : null}</Suspense>
    </>
  )
}
