import { Button } from '@mantine/core'
import { Link, useSearch } from '@tanstack/react-router'
import { Play } from 'lucide-react'
import { useEffect, useRef } from 'react'
import { routeTexts } from '../pages/route-texts.ts'

/** Opens the tab that calls the method of a page, unless it is open. The tab then has the focus instead of the button. */
export function TryButton() {
  const { tab }: { readonly tab?: string } = useSearch({ strict: false })
  const isPressed = useRef(false)
  useEffect(() => {
    if (tab !== 'try' || !isPressed.current) return
    isPressed.current = false
    document.querySelector<HTMLElement>('#content [role="tab"][aria-selected="true"]')?.focus()
  }, [tab])
  if (tab === 'try') return null
  return (
    <Button
      leftSection={<Play size={14} aria-hidden />}
      onClick={() => (isPressed.current = true)}
      renderRoot={(props) => <Link to="." search={{ tab: 'try' }} resetScroll={false} {...props} />}
    >
      {routeTexts.tabs.try}
    </Button>
  )
}
