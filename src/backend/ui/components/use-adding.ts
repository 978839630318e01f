import { useNavigate, useSearch } from '@tanstack/react-router'
import { useEffect, useState } from 'react'

/** Whether the dialog of a list is open, by default the one that adds an entry. A link with `?add=1` opens it. */
export function useAdding(name = 'add'): [boolean, (isAdding: boolean) => void] {
  const search: Readonly<Record<string, string | undefined>> = useSearch({ strict: false })
  const navigate = useNavigate()
  const [isAdding, setAdding] = useState(false)
  useEffect(() => {
    if (search[name] === undefined) return
    setAdding(true)
    void navigate({ to: '.', search: { ...search, [name]: undefined }, replace: true, resetScroll: false })
  }, [search[name]])
  return [isAdding, setAdding]
}
