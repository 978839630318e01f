import { createContext, use, type ReactNode } from 'react'

interface PageHeaderProps {
  readonly title: ReactNode
  /** One sentence below the title, or what identifies a thing. */
  readonly text?: ReactNode
  /** Whether changes apply at once or go to the draft: a text of `modeTexts`. */
  readonly mode?: string
  /** The one primary button of the page. */
  readonly action?: ReactNode
  /** Other buttons, before the primary one. */
  readonly children?: ReactNode
  /** A menu of more actions, after all buttons. */
  readonly menu?: ReactNode
}

/** What every page shows below its header. */
export const PageNotes = createContext<ReactNode>(null)

export function PageHeader({ title, text, mode, action, children, menu }: PageHeaderProps) {
  const notes = use(PageNotes)
  const header = (
    <header className="page-header">
      <div className="page-header-text">
        <h1 dir="auto">{title}</h1>
        {text === undefined && mode === undefined ? null : (
          <p className="page-text">
            {text === undefined ? null : <span>{text}</span>}
            {mode === undefined ? null : <span>{mode}</span>}
          </p>
        )}
      </div>
      {children === undefined && action === undefined && menu === undefined ? null : (
        <div className="page-actions">
          {children}
          {action}
          {menu}
        </div>
      )}
    </header>
  )
  return (
    <>
      {header}
      {notes}
    </>
  )
}
