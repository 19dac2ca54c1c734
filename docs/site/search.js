// The search of the documentation: reads search-index.js (a section of a page each) when it is first asked, and needs no server.
// A section is found when each word of the question begins a word of it; titles count most.
(() => {
  const root = document.body.dataset.root;
  const input = document.querySelector('.search input');
  const list = document.querySelector('.found');
  const most = 12;
  let selected = -1;

  const load = () => new Promise((done, fail) => {
    if (window.tesseraSections)
      return done(window.tesseraSections);
    const script = document.createElement('script');
    script.src = `${root}/search-index.js`;
    script.onload = () => done(window.tesseraSections);
    script.onerror = fail;
    document.head.append(script);
  });

  const wordsOf = text => text.toLowerCase().split(/[^\p{L}\p{N}_]+/u).filter(Boolean);

  // How well a section answers: 0 when a word is missing.
  const score = ([, page, title, text], words) => {
    const places = [[page.toLowerCase(), 6], [title.toLowerCase(), 12], [text.toLowerCase(), 1]];
    let sum = 0;
    for (const word of words) {
      let best = 0;
      const begins = new RegExp(`(^|[^\\p{L}\\p{N}]|_)${word}`, 'gu');
      for (const [place, weight] of places) {
        const times = (place.match(begins) || []).length;
        if (times)
          best += weight * (1 + Math.log(times));
      }
      if (!best)
        return 0;
      sum += best;
    }
    return sum;
  };

  const snippet = (text, word) => {
    const at = Math.max(0, text.toLowerCase().indexOf(word) - 40);
    return (at ? '.. ' : '') + text.slice(at, at + 160).replace(/\s+/g, ' ');
  };

  const show = (sections, question) => {
    const words = wordsOf(question);
    selected = -1;
    list.replaceChildren();
    list.hidden = !words.length;
    if (!words.length)
      return;
    const found = sections.map(section => [score(section, words), section]).filter(([points]) => points)
      .sort(([a], [b]) => b - a).slice(0, most);
    for (const [, [address, page, title, text]] of found) {
      const item = document.createElement('li'), link = document.createElement('a'), line = document.createElement('small');
      link.href = `${root}/${address}`;
      link.textContent = title === page ? page : `${page}: ${title}`;
      line.textContent = snippet(text, words[0]);
      link.append(line);
      item.append(link);
      list.append(item);
    }
    if (!found.length) {
      const item = document.createElement('li');
      item.className = 'none';
      item.textContent = 'Nothing found.';
      list.append(item);
    }
  };

  const select = step => {
    const links = [...list.querySelectorAll('a')];
    if (!links.length)
      return;
    links[selected]?.removeAttribute('aria-selected');
    selected = (selected + step + links.length) % links.length;
    links[selected].setAttribute('aria-selected', 'true');
    links[selected].scrollIntoView({block: 'nearest'});
  };

  const ask = () => load().then(sections => show(sections, input.value));
  input.addEventListener('input', ask);
  input.addEventListener('focus', ask);
  input.addEventListener('keydown', event => {
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      select(event.key === 'ArrowDown' ? 1 : -1);
      event.preventDefault();
    } else if (event.key === 'Enter') {
      (list.querySelector('[aria-selected]') || list.querySelector('a'))?.click();
    } else if (event.key === 'Escape') {
      list.hidden = true;
      input.blur();
    }
  });
  document.addEventListener('click', event => {
    if (!event.target.closest('.search') || event.target.closest('.found a'))
      list.hidden = true;
  });
  document.addEventListener('keydown', event => {
    if (event.key === '/' && event.target !== input) {
      input.focus();
      event.preventDefault();
    }
  });

  const button = document.querySelector('.menu'), nav = document.querySelector('nav');
  button.addEventListener('click', () => button.setAttribute('aria-expanded', nav.classList.toggle('open')));
  nav.addEventListener('click', event => event.target.closest('a') && nav.classList.remove('open'));
  nav.querySelector('[aria-current]')?.scrollIntoView({block: 'center'});

  const question = new URLSearchParams(location.search).get('q'); // a link to an answer: ?q=halo
  if (question) {
    input.value = question;
    ask();
  }
})();
