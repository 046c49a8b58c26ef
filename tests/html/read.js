// read.js - how a page can be read, measured where Chromium put its texts: in place of the page,
// JSON with the least contrast (WCAG 2: 4.5 for text, 3 for large), texts that leave their
// drawing, and elements that leave the screen.  check.sh adds it to a copy of the page.
addEventListener('load', function () {
	function rgb(colour) { var m = colour.match(/[\d.]+/g); return m && m.map(Number); }
	function light(c) {
		return c.slice(0, 3).reduce(function (sum, v, i) {
			v /= 255;
			return sum + [.2126, .7152, .0722][i] *
				(v <= .03928 ? v / 12.92 : Math.pow((v + .055) / 1.055, 2.4));
		}, 0);
	}
	function ratio(a, b) {
		var x = light(a), y = light(b);
		return (Math.max(x, y) + .05) / (Math.min(x, y) + .05);
	}
	function isDrawn(e) { return e.namespaceURI.indexOf('svg') > 0; }
	// the colour behind a point: of the first element that fills it
	function ground(x, y) {
		var found = null;
		document.elementsFromPoint(x, y).some(function (e) {
			var style = getComputedStyle(e);
			var c = /^(text|tspan|svg|g|line)$/i.test(e.tagName) ? null :
				rgb(isDrawn(e) ? style.fill : style.backgroundColor);
			found = c && (c.length < 4 || c[3] > .5) ? c : null;
			return found;
		});
		return found || [255, 255, 255];
	}
	var all = { texts: 0, least: 99, faint: [], clipped: [], wide: [] };
	document.querySelectorAll('details').forEach(function (d) { d.open = true; });
	document.querySelectorAll('.scroll').forEach(function (d) { d.style.maxHeight = 'none'; });
	var walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	while (walk.nextNode()) {
		var e = walk.currentNode.parentElement, text = walk.currentNode.data.trim();
		var range = document.createRange(), style = getComputedStyle(e), drawing = e.ownerSVGElement;
		range.selectNodeContents(walk.currentNode);
		var box = range.getBoundingClientRect();
		if (!text || !box.width || /^(script|style|title|desc)$/i.test(e.tagName))
			continue;
		var size = parseFloat(style.fontSize), x = box.left + box.width / 2;
		var k = ratio(rgb(isDrawn(e) ? style.fill : style.color), ground(x, box.top + box.height / 2));
		if (x >= 0 && innerWidth > x) {
			all.texts++;
			all.least = Math.min(all.least, k);
			if ((size >= 24 || (size >= 18.66 && style.fontWeight >= 700) ? 3 : 4.5) > k)
				all.faint.push(k.toFixed(2) + ' ' + text);
		}
		var edge = drawing && drawing.getBoundingClientRect();
		if (edge && (edge.left - 1 > box.left || box.right > edge.right + 1))
			all.clipped.push(text);
	}
	document.querySelectorAll('body *').forEach(function (e) {
		if (e.getBoundingClientRect().right > innerWidth + 1 && !e.closest('svg,.wide,.scroll,pre'))
			all.wide.push(e.tagName + ' ' + e.textContent.slice(0, 40));
	});
	document.body.innerHTML = '<pre id="read"></pre>';
	document.getElementById('read').textContent = JSON.stringify(all);
});
