"""What every screen must hold: each control has a name and room to be hit, each text can be read."""

from __future__ import annotations

from typing import Any

_NAMES = """
root => [...root.querySelectorAll(
    'button, input, select, textarea, [role=img], [role=listbox], [role=tab], [role=region]')]
  .filter(e => e.getClientRects().length)
  .filter(e => {
    const label = e.getAttribute('aria-label') || (e.labels && [...e.labels].map(l => l.textContent).join(' '))
      || (['INPUT', 'SELECT', 'TEXTAREA'].includes(e.tagName) ? '' : e.textContent);
    return !label || !label.trim();
  })
  .map(e => e.outerHTML.slice(0, 120))
"""

#: What is seen of a control and is not in its name: who says what they see would not be understood.
_UNLIKE = """
root => {
  const words = text => (text.toLowerCase().match(/[\\p{L}\\p{N}]+/gu) || []).join(' ');
  const seenOf = e => {
    if (e.tagName === 'BUTTON' || e.getAttribute('role') === 'tab') return e.textContent;
    const label = e.closest('label');
    if (!label) return '';
    return [...label.childNodes].filter(n => n.nodeType === 3).map(n => n.textContent).join(' ');
  };
  return [...root.querySelectorAll('button, input, select, textarea')]
    .filter(e => e.getClientRects().length && e.getAttribute('aria-label'))
    .filter(e => {
      const seen = words(seenOf(e));
      return seen && !` ${words(e.getAttribute('aria-label'))} `.includes(` ${seen} `);
    })
    .map(e => `${seenOf(e)} / ${e.getAttribute('aria-label')}`);
}
"""

_SMALL = """
root => [...root.querySelectorAll('button, select, input:not([type=checkbox])')]
  .filter(e => e.getClientRects().length && !e.classList.contains('wb-link'))
  .filter(e => { const r = e.getBoundingClientRect(); return r.height < 23.5 || r.width < 23.5; })
  .map(e => e.outerHTML.slice(0, 120))
"""

_PALE = """
root => {
  const parse = text => (text.match(/[\\d.]+/g) || []).map(Number);
  const light = c => { const v = c / 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; };
  const lum = ([r, g, b]) => 0.2126 * light(r) + 0.7152 * light(g) + 0.0722 * light(b);
  const over = (top, under, a) => top.map((v, i) => v * a + under[i] * (1 - a));
  const backOf = e => {
    const stack = [];
    for (let at = e; at; at = at.parentElement) {
      const [r, g, b, a = 1] = parse(getComputedStyle(at).backgroundColor);
      if (a > 0) stack.push([[r, g, b], a]);
      if (a === 1) break;
    }
    let found = [255, 255, 255];
    for (const [colour, a] of stack.reverse()) found = over(colour, found, a);
    return found;
  };
  const bad = [];
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  for (let node; (node = walker.nextNode());) {
    const e = node.parentElement;
    if (!node.textContent.trim() || !e.getClientRects().length) continue;
    if (e.closest('svg, [aria-hidden=true], option')) continue;
    const style = getComputedStyle(e);
    const [r, g, b, a = 1] = parse(style.color);
    if (a === 0) continue;
    let opacity = a;
    for (let at = e; at && at !== root.parentElement; at = at.parentElement) {
      opacity *= Number(getComputedStyle(at).opacity);
    }
    const back = backOf(e);
    const x = lum(over([r, g, b], back, opacity)), y = lum(back);
    const ratio = (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
    if (ratio < 4.5) bad.push(`${ratio.toFixed(2)} ${e.className} ${node.textContent.trim().slice(0, 40)}`);
  }
  return [...new Set(bad)];
}
"""

_CUT = """
root => [...root.querySelectorAll('button, .wb-note, .wb-headline span, label, th, .wb-check-state')]
  .filter(e => e.getClientRects().length && !e.closest('.wb-virtual, .wb-hidden'))
  .filter(e => e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).display !== 'inline')
  .map(e => `${e.className} ${e.textContent.trim().slice(0, 60)}`)
"""

_WIDE = "root => root.scrollWidth - root.clientWidth"


def assert_readable(panel: Any) -> None:
    """Names, sizes of targets, contrast, cut texts and width of everything that is visible in a panel."""
    checks = {
        "without a name": _NAMES,
        "named unlike its text": _UNLIKE,
        "too small": _SMALL,
        "too pale": _PALE,
        "cut": _CUT,
    }
    found = {what: bad for what, script in checks.items() if (bad := panel.evaluate(script))}
    assert not found, found
    wide = panel.evaluate(_WIDE)
    assert wide <= 0, f"{wide} pixels too wide"
