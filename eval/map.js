// What a dot on the map says, under the pointer or by the arrow keys.
const show = (dot) => {
  element.querySelectorAll('circle.on').forEach((one) => one.classList.remove('on'));
  dot.classList.add('on');
  const seen = dot.closest('.map').querySelector('.seen');
  seen.replaceChildren();
  if (dot.dataset.picture) {
    const picture = document.createElement('img');
    picture.src = dot.dataset.picture;
    picture.alt = dot.dataset.said;
    seen.append(picture);
  }
  const said = document.createElement('p');
  said.textContent = dot.dataset.side + ': ' + dot.dataset.said;
  seen.append(said);
};
element.addEventListener('pointerover', (event) => {
  if (event.target.matches('.map circle')) show(event.target);
});
element.addEventListener('keydown', (event) => {
  const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
  const map = event.target.closest('.map');
  if (!step || !map) return;
  event.preventDefault();
  const dots = [...map.querySelectorAll('circle')];
  const now = dots.findIndex((dot) => dot.classList.contains('on'));
  show(dots[(now + step + dots.length) % dots.length]);
});
